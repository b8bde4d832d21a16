// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/trace/card_parts.h"
#include "widgets/trace/height_tree.h"
#include "widgets/trace/trace_finder.h"
#include "widgets/trace/trace_markdown.h"
#include "widgets/trace/trace_model.h"

#include "tests/widgets/trace/sample_session.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QTest>

#include <random>

using namespace cuda_agent;
using namespace cuda_agent::widgets;
using session::EventType;
using Reporting = QAbstractItemModelTester::FailureReportingMode;

class TraceModelTest : public QObject {
    Q_OBJECT
  private slots:
    void rowsAndRoles();
    void grows();
    void cursorGoesBack();
    void anotherLog();
    void foreignPayloads();
    void usageOnlyWhenSaid();
    void tellsWhatEarlierSessionsFound();
    void tellsBudgetsAndWhatIsReplayed();
    void streamsIntoOneCard();
    void folds();
    void pendingGoesWithTheNextEvent();
    void findsFoldedText();
    void findsWhileGrowing();
    void findsAsAPlainSearchDoes();
    void heights();
    void partsOfLongTexts();
    void markdown();

  private:
    static QString text(const TraceModel &model, int row, int role = Qt::DisplayRole) {
        return model.index(row).data(role).toString();
    }
    static int rowWith(const TraceModel &model, CardKind kind, int turn) {
        for (int row = 0; row < model.rowCount(); ++row)
            if (model.kindOf(row) == kind && model.turnOf(row) == turn)
                return row;
        return -1;
    }
};

void TraceModelTest::rowsAndRoles() {
    sample::Events events;
    events.prelude().turn(1, true).turn(2, false);
    events.add(EventType::sessionEnded, 0, {{"reason", "turns used up"}, {"best_turn", 1}});
    SessionDocument document;
    document.replace(sample::indexOf(events.all));
    TraceModel model(&document);
    QAbstractItemModelTester tester(&model, Reporting::QtTest);
    // 3 before the turns; a turn: head, thought, 2 actions, 2 observations; the end.
    QCOMPARE(model.rowCount(), 3 + 6 + 6 + 1);
    QCOMPARE(text(model, 0), QStringLiteral("Session: softmax"));
    QVERIFY(text(model, 0, TraceModel::TextRole).contains(QStringLiteral("Test Device (sm_90)")));
    QVERIFY(
        text(model, 1, TraceModel::TextRole).contains(QStringLiteral("in0 float32 [2048, 1000]")));
    QVERIFY(text(model, 1, TraceModel::TextRole).contains(QStringLiteral("Operators: 1")));
    QVERIFY(text(model, 2, TraceModel::TextRole)
                .contains(QStringLiteral("compile_max_autotune is missing: not asked for")));
    const int head = rowWith(model, CardKind::turn, 1);
    const QStringList chips = model.index(head).data(TraceModel::ChipRole).toStringList();
    QVERIFY(chips.contains(QStringLiteral("Correct")));
    QVERIFY(chips.contains(QStringLiteral("Reward 3")));
    QVERIFY(chips.filter(QStringLiteral("torch.compile")).size() == 1);
    QCOMPARE(model.index(head).data(TraceModel::DurationRole).toDouble() > 0.89, true);
    QVERIFY(model.index(rowWith(model, CardKind::turn, 2))
                .data(TraceModel::ChipRole)
                .toStringList()
                .contains(QStringLiteral("Wrong")));
    const int write = rowWith(model, CardKind::action, 1);
    QCOMPARE(text(model, write), QStringLiteral("Write kernels/row.cu"));
    QVERIFY(text(model, write, TraceModel::TextRole).startsWith(QStringLiteral("// line 0 of")));
    QCOMPARE(text(model, write + 1), QStringLiteral("Result of Write"));
    QCOMPARE(text(model, write + 2), QStringLiteral("Verify"));
    QCOMPARE(model.card(write + 2).details, QStringLiteral("training strength"));
    QCOMPARE(text(model, write + 3), QStringLiteral("Result of Verify"));
    QCOMPARE(model.index(write + 3).data(TraceModel::DurationRole).toDouble(), 1.07);
    QVERIFY(model.card(rowWith(model, CardKind::action, 2) + 3).failed);
    QCOMPARE(model.index(0).data(TraceModel::DurationRole).isValid(), false);
    QCOMPARE(text(model, model.rowCount() - 1, TraceModel::TextRole),
             QStringLiteral("turns used up"));
    QCOMPARE(model.rowsOfTurn(2), std::pair(9, 15));
    QCOMPARE(model.rowsOfTurn(7), std::pair(-1, -1));
}

void TraceModelTest::grows() {
    sample::Events events;
    events.prelude().turn(1, true).turn(2, false);
    SessionDocument document;
    TraceModel model(&document);
    QAbstractItemModelTester tester(&model, Reporting::QtTest);
    QCOMPARE(model.rowCount(), 0);
    QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
    for (const session::Event &event : events.all)
        document.append({event});
    QCOMPARE(model.rowCount(), 15);
    QCOMPARE(resets.count(), 0);
    // The head of the turn heard of its verdict, which came later.
    QVERIFY(model.index(rowWith(model, CardKind::turn, 1))
                .data(TraceModel::ChipRole)
                .toStringList()
                .contains(QStringLiteral("Correct")));
}

void TraceModelTest::cursorGoesBack() {
    sample::Events events;
    events.prelude().turn(1, true).turn(2, false);
    SessionDocument document;
    document.replace(sample::indexOf(events.all));
    TraceModel model(&document);
    QAbstractItemModelTester tester(&model, Reporting::QtTest);
    QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
    for (std::size_t cursor = events.all.size(); cursor-- > 0;) {
        document.setCursor(cursor);
        const auto rows =
            std::count_if(events.all.begin(), events.all.begin() + std::ptrdiff_t(cursor),
                          [](const session::Event &event) { return hasCard(event.type); });
        QCOMPARE(model.rowCount(), int(rows));
        const int head = rowWith(model, CardKind::turn, 1);
        // prelude 3; the verdict is the 8th event of the turn.
        if (head >= 0)
            QCOMPARE(model.index(head).data(TraceModel::ChipRole).toStringList().isEmpty(),
                     cursor < 3 + 8);
    }
    document.toEnd();
    QCOMPARE(model.rowCount(), 15);
    QCOMPARE(resets.count(), 0); // what is folded and where people read survives

    // Events that come while the cursor is back are not shown, and the log may move in memory.
    document.setCursor(5);
    const int rows = model.rowCount();
    sample::Events more;
    more.all = events.all;
    more.turn(3, true);
    document.append({more.all.begin() + std::ptrdiff_t(events.all.size()), more.all.end()});
    QCOMPARE(model.rowCount(), rows);
    document.setCursor(4);
    QCOMPARE(resets.count(), 0);
    document.toEnd();
    QCOMPARE(model.rowCount(), 21);
}

void TraceModelTest::anotherLog() {
    sample::Events first, second;
    first.prelude().turn(1, true);
    second.prelude().turn(1, false).turn(2, true);
    second.all.front().data["policy"] = "replay";
    SessionDocument document;
    document.replace(sample::indexOf(first.all));
    TraceModel model(&document);
    QAbstractItemModelTester tester(&model, Reporting::QtTest);
    QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
    document.replace(sample::indexOf(second.all));
    QCOMPARE(resets.count(), 1);
    QCOMPARE(model.rowCount(), 15);
    QVERIFY(text(model, 0, TraceModel::TextRole).contains(QStringLiteral("replay")));
    document.replace({});
    QCOMPARE(model.rowCount(), 0);
}

void TraceModelTest::foreignPayloads() {
    sample::Events events;
    const Json odd = {{"text", 3},
                      {"arguments", "x"},
                      {"tool", {1, 2}},
                      {"id", nullptr},
                      {"verdict", "no"},
                      {"task", 7},
                      {"device", "d"},
                      {"problems", "p"},
                      {"usage", 5},
                      {"flags", {1}},
                      {"data", {{"usage", {{"cost", "x"}}}}}};
    for (int type = 0; type <= int(EventType::sessionEnded); ++type) {
        events.add(EventType(type), 1, odd);
        events.add(EventType(type), 0, Json::array({1}));
        events.add(EventType(type), 1, nullptr);
    }
    SessionDocument document;
    TraceModel model(&document);
    QAbstractItemModelTester tester(&model, Reporting::QtTest);
    for (const session::Event &event : events.all)
        document.append({event});
    QVERIFY(model.rowCount() > 20);
    for (int row = 0; row < model.rowCount(); ++row) {
        QVERIFY(!model.card(row).title.isEmpty());
        QCOMPARE(model.card(row).usage, QString());
    }
}

void TraceModelTest::usageOnlyWhenSaid() {
    sample::Events events;
    events.add(EventType::modelAnswered, 1,
               {{"model", "m"}, {"prompt_tokens", 1234}, {"answer_tokens", 56}, {"cost", 0.0125}});
    events.add(EventType::thought, 1, {{"text", "c"}});
    SessionDocument document;
    document.replace(sample::indexOf(events.all));
    TraceModel model(&document);
    QVERIFY(model.card(0).usage.contains(QLocale().toString(1234)));
    QVERIFY(model.card(0).usage.contains(QStringLiteral("56")));
    QVERIFY(model.card(0).usage.contains(QLocale().toString(0.0125)));
    QCOMPARE(model.card(1).usage, QString());
}

void TraceModelTest::tellsWhatEarlierSessionsFound() {
    sample::Events events;
    events.add(EventType::knowledgeOffered, 0,
               {{"operators", "gemm+pointwise"},
                {"text", "Worked:\n- a warp per row: 1.90x eager"},
                {"worked", Json::array({Json::object(), Json::object()})},
                {"failed", Json::array()}});
    SessionDocument document;
    document.replace(sample::indexOf(events.all));
    TraceModel model(&document);
    QCOMPARE(model.rowCount(), 1);
    QCOMPARE(text(model, 0), QStringLiteral("What earlier sessions found"));
    QVERIFY(text(model, 0, TraceModel::TextRole).contains(QStringLiteral("1.90x eager")));
    QCOMPARE(model.index(0).data(TraceModel::ChipRole).toStringList(),
             QStringList{QStringLiteral("2 worked")});
    QCOMPARE(model.card(0).details, QStringLiteral("gemm+pointwise"));
    QCOMPARE(model.kindOf(0), CardKind::note);
}

void TraceModelTest::tellsBudgetsAndWhatIsReplayed() {
    sample::Events events;
    events.add(EventType::sessionStarted, 0,
               {{"task", {{"name", "t"}}},
                {"policy", "replay"},
                {"turns", 20},
                {"recorded", {{"path", "/sessions/first"}, {"id", "abc"}}}});
    events.add(
        EventType::budgetSet, 0,
        {{"turns", 40}, {"budget", {{"seconds", 600.0}, {"tokens", 1'000'000}, {"cost", 2.5}}}});
    SessionDocument document;
    document.replace(sample::indexOf(events.all));
    TraceModel model(&document);
    const QString session = text(model, 0, TraceModel::TextRole);
    QVERIFY(session.contains(QStringLiteral("Replays: /sessions/first")));
    QVERIFY(session.contains(QStringLiteral("At most 20 turns")));
    QCOMPARE(text(model, 1), QStringLiteral("Budget from here on"));
    QCOMPARE(text(model, 1, TraceModel::TextRole),
             QStringLiteral("At most 40 turns\nAt most 600 s\nAt most 1000000 tokens\n"
                            "Cost of at most 2.5"));
}

void TraceModelTest::streamsIntoOneCard() {
    sample::Events events;
    events.add(EventType::turnStarted, 1, {{"author", "policy"}});
    for (const char *piece : {"I ", "think ", "so"})
        events.add(EventType::textStreamed, 1, {{"text", piece}});
    events.add(EventType::modelAnswered, 1, {{"model", "m"}});
    events.add(EventType::thought, 1, {{"text", "I think so"}});
    SessionDocument document;
    TraceModel model(&document);
    QAbstractItemModelTester tester(&model, Reporting::QtTest);
    for (int i = 0; i < 3; ++i)
        document.append({events.all[std::size_t(i)]});
    QCOMPARE(model.rowCount(), 2);
    QCOMPARE(model.kindOf(1), CardKind::pending);
    QCOMPARE(model.data(model.index(1), TraceModel::TextRole).toString(),
             QStringLiteral("I think "));
    document.append({events.all[3]});
    QCOMPARE(model.data(model.index(1), TraceModel::TextRole).toString(),
             QStringLiteral("I think so"));
    document.append({events.all[4]});
    document.append({events.all[5]});
    QCOMPARE(model.rowCount(), 3); // the turn, the answer, the thought
    QCOMPARE(model.kindOf(2), CardKind::thought);
    document.setCursor(3); // replay shows it as it was
    QCOMPARE(model.rowCount(), 2);
    QCOMPARE(model.data(model.index(1), TraceModel::TextRole).toString(),
             QStringLiteral("I think "));
}

void TraceModelTest::folds() {
    sample::Events events;
    events.prelude().turn(1, true);
    SessionDocument document;
    document.replace(sample::indexOf(events.all));
    TraceModel model(&document);
    QAbstractItemModelTester tester(&model, Reporting::QtTest);
    QVERIFY(model.folded(5));
    QVERIFY(model.setData(model.index(5), false, TraceModel::FoldedRole));
    QVERIFY(!model.folded(5));
    document.setCursor(0);
    document.toEnd();
    QVERIFY(!model.folded(5)); // remembered
    model.setAllFolded(false);
    QVERIFY(!model.folded(0));
    model.setAllFolded(true);
    QVERIFY(model.folded(5));
}

void TraceModelTest::pendingGoesWithTheNextEvent() {
    sample::Events events;
    events.prelude().turn(1, true, 3, false);
    SessionDocument document;
    document.replace(sample::indexOf(events.all));
    TraceModel model(&document);
    QAbstractItemModelTester tester(&model, Reporting::QtTest);
    const int rows = model.rowCount();
    model.setPending(QStringLiteral("compiling"));
    QCOMPARE(model.rowCount(), rows + 1);
    QCOMPARE(text(model, rows, TraceModel::TextRole), QStringLiteral("compiling"));
    QCOMPARE(model.turnOf(rows), 1);
    model.setPending(QStringLiteral("verifying"));
    QCOMPARE(text(model, rows, TraceModel::TextRole), QStringLiteral("verifying"));
    document.setCursor(4); // who looks back does not see it
    QVERIFY(rowWith(model, CardKind::pending, 1) < 0);
    document.toEnd();
    QCOMPARE(model.rowCount(), rows + 1);
    sample::Events more;
    more.all = events.all;
    more.add(EventType::note, 1, {{"text", "n"}});
    document.append({more.all.back()});
    QCOMPARE(model.rowCount(), rows + 1);
    QCOMPARE(model.kindOf(rows), CardKind::note);
    model.setPending(QStringLiteral("x"));
    model.setPending({});
    QCOMPARE(model.rowCount(), rows + 1);
}

void TraceModelTest::findsFoldedText() {
    sample::Events events;
    events.prelude().turn(1, true).turn(2, true);
    SessionDocument document;
    document.replace(sample::indexOf(events.all));
    TraceModel model(&document);
    TraceFinder finder(&model);
    finder.setPattern(QStringLiteral("LINE 29 of turn"));
    QTRY_VERIFY(!finder.busy());
    QCOMPARE(finder.matches().size(), std::size_t(2));
    const TraceFinder::Match match = finder.matches()[1];
    QCOMPARE(model.card(match.row).body().substr(match.begin, match.end - match.begin),
             std::string_view("line 29 of turn"));
    finder.setPattern(QStringLiteral("verify"));
    QTRY_VERIFY(!finder.busy());
    QCOMPARE(finder.matches().size(), std::size_t(4)); // titles
    finder.setPattern({});
    QVERIFY(finder.matches().empty());
}

void TraceModelTest::findsWhileGrowing() {
    sample::Events events;
    events.prelude().turn(1, true).turn(2, true).turn(3, true);
    SessionDocument document;
    TraceModel model(&document);
    TraceFinder finder(&model);
    finder.setPattern(QStringLiteral("a whole row"));
    for (const session::Event &event : events.all) {
        document.append({event});
        QCoreApplication::processEvents();
    }
    QTRY_VERIFY(!finder.busy());
    QCOMPARE(finder.matches().size(), std::size_t(3));
    document.setCursor(15); // in turn 2, after its thought
    QTRY_VERIFY(!finder.busy());
    QCOMPARE(finder.matches().size(), std::size_t(2));
    document.setCursor(4);
    QCOMPARE(finder.matches().size(), std::size_t(0));
    document.toEnd();
    QTRY_COMPARE(finder.matches().size(), std::size_t(3));
}

void TraceModelTest::findsAsAPlainSearchDoes() {
    std::mt19937 random(7);
    for (int round = 0; round < 2000; ++round) {
        std::string text, needle;
        for (unsigned i = random() % 60; i > 0; --i)
            text += "abAB\n"[random() % 5];
        for (unsigned i = 1 + random() % 4; i > 0; --i)
            needle += "ab"[random() % 2];
        const std::size_t from = text.empty() ? 0 : random() % text.size();
        std::string small = text;
        for (char &c : small)
            c = char(std::tolower(c));
        QCOMPARE(findFolded(text, needle, from, text.size()), small.find(needle, from));
    }
    QCOMPARE(findFolded("x\xC3\xA4y", foldCase("\xC3\xA4Y"), 0, 99), std::size_t(1));

    // A match across the pieces in which a long text is searched.
    sample::Events events;
    std::string text(3 << 20, 'x');
    text.replace((1 << 20) - 3, 6, "needle");
    text.replace((2 << 20) - 6, 6, "needle");
    text.replace((2 << 20) + 100, 6, "NEEDLE");
    events.add(EventType::thought, 1, {{"text", text}});
    SessionDocument document;
    document.replace(sample::indexOf(events.all));
    TraceModel model(&document);
    TraceFinder finder(&model);
    finder.setPattern(QStringLiteral("needle"));
    QTRY_VERIFY(!finder.busy());
    QCOMPARE(finder.matches().size(), std::size_t(3));
    QCOMPARE(finder.matches()[0].begin, std::size_t((1 << 20) - 3));
    finder.setPattern(QStringLiteral("x")); // more than are kept
    QTRY_VERIFY(!finder.busy());
    QCOMPARE(finder.matches().size(), TraceFinder::most);
}

void TraceModelTest::heights() {
    std::mt19937 random(3);
    HeightTree tree;
    std::vector<int> plain;
    for (int round = 0; round < 3000; ++round) {
        const unsigned what = random() % 10;
        if (what < 6 || plain.empty()) {
            plain.push_back(int(random() % 100));
            tree.append(plain.back());
        } else if (what < 9) {
            const std::size_t row = random() % plain.size();
            plain[row] = int(random() % 100);
            tree.set(int(row), plain[row]);
        } else {
            plain.resize(plain.size() - random() % std::min<std::size_t>(plain.size(), 4));
            tree.shrink(int(plain.size()));
        }
        if (plain.empty())
            continue;
        const std::size_t row = random() % plain.size();
        qint64 sum = 0;
        for (std::size_t i = 0; i < row; ++i)
            sum += plain[i];
        QCOMPARE(tree.offset(int(row)), sum);
        if (plain[row] > 0)
            QCOMPARE(tree.rowAt(sum + plain[row] / 2), int(row));
    }
    QCOMPARE(HeightTree().rowAt(0), -1);
}

void TraceModelTest::partsOfLongTexts() {
    using Parts = std::vector<std::size_t>;
    QCOMPARE(bodyParts(""), (Parts{0, 0}));
    QCOMPARE(bodyParts("a\nb"), (Parts{0, 3}));
    std::string lines;
    for (int i = 0; i < 2500; ++i)
        lines += "x\n";
    QCOMPARE(bodyParts(lines), (Parts{0, 2000, 4000, 5000}));
    // One long line of characters of three bytes is cut between characters.
    std::string wide;
    for (int i = 0; i < 50000; ++i)
        wide += "\xE4\xBD\xA0";
    const Parts parts = bodyParts(wide);
    QCOMPARE(parts.back(), wide.size());
    for (const std::size_t part : parts)
        QCOMPARE(part % 3, std::size_t(0));
}

void TraceModelTest::markdown() {
    sample::Events events;
    events.prelude().turn(1, true, 2);
    events.add(EventType::turnStarted, 2, {{"author", "engineer"}});
    events.add(EventType::thought, 2, {{"text", "Mind the NaN."}});
    events.add(EventType::observation, 2, {{"ok", true}, {"text", "has ``` fences"}});
    SessionDocument document;
    document.replace(sample::indexOf(events.all));
    TraceModel model(&document);
    const int engineers = model.rowsOfTurn(2).first;
    QCOMPARE(model.index(engineers + 1).data().toString(), QStringLiteral("Message"));
    const auto [first, end] = model.rowsOfTurn(1);
    const QString turn = QString::fromStdString(markdownOf(model, first, end));
    QVERIFY(turn.startsWith(QStringLiteral("## Turn 1\n\n")));
    QVERIFY(turn.contains(QStringLiteral("Correct · Reward 3")));
    QVERIFY(turn.contains(QStringLiteral("**Write kernels/row.cu**")));
    QVERIFY(
        turn.contains(QStringLiteral("```cuda\n// line 0 of turn 1\n// line 1 of turn 1\n```")));
    QVERIFY(!turn.contains(QStringLiteral("Turn 2")));

    MarkdownJob job(&model);
    QSignalSpy done(&job, &MarkdownJob::finished);
    job.start();
    QVERIFY(done.wait());
    const QString all = done.front().front().toString();
    QVERIFY(all.startsWith(QStringLiteral("# Session: softmax\n")));
    QVERIFY(all.contains(turn));
    QVERIFY(all.contains(QStringLiteral("````\nhas ``` fences\n````")));
    QVERIFY(all.contains(QStringLiteral("Engineer")));
}

QTEST_MAIN(TraceModelTest)
#include "trace_model_test.moc"
