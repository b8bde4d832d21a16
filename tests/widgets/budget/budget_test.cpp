// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/base/theme.h"
#include "widgets/budget/budget_dialog.h"
#include "widgets/budget/budget_strip.h"
#include "widgets/budget/gauge.h"
#include "widgets/session/session_document.h"

#include <QDateTime>
#include <QDoubleSpinBox>
#include <QSpinBox>
#include <QStandardPaths>
#include <QTest>

using namespace cuda_agent;
using namespace cuda_agent::widgets;
using session::EventType;

namespace {

/// A session of a language model: one event a second, an answer a turn, then an engineer's turn.
std::vector<session::Event> events(int turns, double start = 1000) {
    std::vector<session::Event> made;
    const auto add = [&](EventType type, int turn, Json data = Json::object()) {
        const auto number = static_cast<std::int64_t>(made.size());
        made.push_back({number, start + static_cast<double>(number), type, turn, std::move(data)});
    };
    add(EventType::sessionStarted, 0,
        {{"policy", "endpoint"},
         {"turns", 4},
         {"budget", {{"seconds", 0}, {"tokens", 10'000}, {"cost", 2.0}}}});
    add(EventType::baselinesMeasured, 0);
    for (int turn = 1; turn <= turns; ++turn) {
        add(EventType::turnStarted, turn, {{"author", "policy"}});
        add(EventType::modelAnswered, turn,
            {{"prompt_tokens", 2000},
             {"cached_tokens", 500},
             {"answer_tokens", 300},
             {"cost", 0.5},
             {"seconds", 7}});
        add(EventType::turnEnded, turn);
    }
    add(EventType::turnStarted, turns + 1, {{"author", "engineer"}});
    add(EventType::turnEnded, turns + 1);
    return made;
}

} // namespace

class BudgetTest : public QObject {
    Q_OBJECT
  private slots:
    void initTestCase() {
        QStandardPaths::setTestModeEnabled(true);
        QLocale::setDefault(QLocale(QLocale::English)); // figures are grouped by its rules
    }

    void foldsUpToTheCursor() {
        SessionIndex index;
        for (auto &event : events(2))
            index.append(event);
        BudgetFold fold;
        BudgetFigures figures = fold.at(index, 0);
        QVERIFY(!figures.begun);
        figures = fold.at(index, 4);
        QVERIFY(figures.begun && figures.model);
        QCOMPARE(figures.turns, 1);
        QCOMPARE(figures.tokens(), std::int64_t{2300});
        QCOMPARE(figures.usage.cachedTokens, std::int64_t{500});
        QCOMPARE(figures.seconds, 1.0);
        figures = fold.at(index, index.size());
        QCOMPARE(figures.turns, 2); // the engineer's is not counted
        QCOMPARE(figures.tokens(), std::int64_t{4600});
        QCOMPARE(figures.usage.cost, 1.0);
        QCOMPARE(figures.limits.tokens, std::int64_t{10'000});
        // What the engine itself would say at the end.
        QCOMPARE(figures.usage.promptTokens, index.state().usage.promptTokens);
        QCOMPARE(figures.usage.answers, index.state().usage.answers);
        QCOMPARE(fold.at(index, 4).tokens(), std::int64_t{2300}); // back
        QCOMPARE(fold.at(index, 1).seconds, 0.0);
    }

    void aResumedRunHasATimeOfItsOwn() {
        SessionIndex index;
        auto all = events(1);
        const double later = all.back().time + 5000;
        for (const auto &[type, turn, at] : {std::tuple{EventType::baselinesMeasured, 0, 0.0},
                                             std::tuple{EventType::turnStarted, 3, 10.0},
                                             std::tuple{EventType::turnEnded, 3, 13.0}})
            all.push_back(
                {static_cast<std::int64_t>(all.size()), later + at, type, turn, Json::object()});
        for (auto &event : all)
            index.append(event);
        BudgetFold fold;
        QCOMPARE(fold.at(index, index.size()).seconds, 3.0);
    }

    void aResumedRunMayHaveAnotherBudget() {
        SessionIndex index;
        auto all = events(1);
        all.push_back({static_cast<std::int64_t>(all.size()),
                       all.back().time + 1,
                       EventType::budgetSet,
                       0,
                       {{"turns", 77}, {"budget", {{"seconds", 9.0}, {"tokens", 20'000}}}}});
        for (auto &event : all)
            index.append(event);
        BudgetFold fold;
        const int before = fold.at(index, index.size() - 1).limits.turns;
        const BudgetFigures figures = fold.at(index, index.size());
        QVERIFY(figures.begun && figures.model && before != 77);
        QCOMPARE(figures.limits.turns, 77);
        QCOMPARE(figures.limits.tokens, std::int64_t{20'000});
        QCOMPARE(figures.limits.seconds, 9.0);
    }

    void whatAnybodyMayHaveWrittenIsTaken() {
        SessionIndex index;
        index.append({0,
                      1,
                      EventType::sessionStarted,
                      0,
                      {{"policy", 7}, {"turns", "many"}, {"budget", Json::array({1})}}});
        index.append(
            {1, 2, EventType::modelAnswered, 0, {{"prompt_tokens", "x"}, {"cost", -1e99}}});
        BudgetFold fold;
        const BudgetFigures figures = fold.at(index, 2);
        QCOMPARE(figures.limits.turns, 0);
        QCOMPARE(figures.usage.promptTokens, std::int64_t{0});
    }

    void gaugesFollowTheCursor() {
        SessionDocument document;
        BudgetStrip strip(&document);
        strip.setPlanned({20, 0, 0, 0}, false);
        strip.show();
        QCOMPARE(strip.turns().value(), QStringLiteral("0 of 20"));
        QVERIFY(!strip.tokens().isVisible());
        document.append(events(3));
        QVERIFY(strip.tokens().isVisible() && strip.cost().isVisible());
        QCOMPARE(strip.turns().value(), QStringLiteral("3 of 4"));
        QCOMPARE(strip.tokens().value(), QStringLiteral("6900 of 10.0\u202fk"));
        QCOMPARE(strip.tokens().fraction(), 0.69);
        for (const char *words : {"6,000", "1,500", "900", "10,000"})
            QVERIFY2(strip.tokens().toolTip().contains(QLatin1String(words)),
                     qPrintable(strip.tokens().toolTip()));
        QCOMPARE(strip.cost().value(), QStringLiteral("1.50 of 2.00"));
        QCOMPARE(strip.time().fraction(), -1.0); // no limit, no bar
        QVERIFY(strip.turns().accessibleName().contains(QStringLiteral("3 of 4")));
        document.setCursor(4);
        QCOMPARE(strip.turns().value(), QStringLiteral("1 of 4"));
        QCOMPARE(strip.tokens().value(), QStringLiteral("2300 of 10.0\u202fk"));
        document.toEnd();
        QCOMPARE(strip.turns().value(), QStringLiteral("3 of 4"));
    }

    void theClockGoesOnWhileItRuns() {
        SessionDocument document;
        BudgetStrip strip(&document);
        document.append(events(1, QDateTime::currentMSecsSinceEpoch() / 1000.0 - 100));
        QCOMPARE(strip.time().value(), QStringLiteral("0:04"));
        strip.setRunning(true);
        QCOMPARE(strip.time().value().left(3), QStringLiteral("1:3"));
        strip.setRunning(false);
        QCOMPARE(strip.time().value(), QStringLiteral("0:04"));
    }

    void countsAreShort() {
        QCOMPARE(countText(0), QStringLiteral("0"));
        QCOMPARE(countText(9999), QStringLiteral("9999"));
        QCOMPARE(countText(12'345), QStringLiteral("12.3\u202fk"));
        QCOMPARE(countText(999'600), QStringLiteral("1.00\u202fM"));
        QCOMPARE(countText(2'500'000'000), QStringLiteral("2.50\u202fG"));
    }

    void aLongSessionFoldsOnce() {
        SessionDocument document;
        BudgetStrip strip(&document);
        document.append(events(300));
        std::vector<session::Event> pieces;
        std::int64_t number = static_cast<std::int64_t>(document.index().size());
        const int last = document.index().turnCount(document.cursor());
        for (int i = 0; i < 20'000; ++i)
            pieces.push_back({number++, 1e4 + i, EventType::textStreamed, last, {{"text", "x"}}});
        QElapsedTimer time;
        time.start();
        for (const auto &piece : pieces)
            document.append({piece});
        QVERIFY2(time.elapsed() < 20'000, qPrintable(QString::number(time.elapsed())));
    }

    void theDialogGivesBackWhatItShows() {
        const agent::Budget budget{150, 3600, 5'000'000'000, 12.5};
        BudgetDialog dialog(budget);
        const agent::Budget same = dialog.budget();
        QCOMPARE(same.turns, 150);
        QCOMPARE(same.seconds, 3600.0);
        QCOMPARE(same.tokens, std::int64_t{5'000'000'000});
        QCOMPARE(same.cost, 12.5);
        auto *tokens = dialog.findChild<QDoubleSpinBox *>(QStringLiteral("budget.tokens"));
        tokens->setValue(0);
        QVERIFY(tokens->text().contains(QStringLiteral("no limit")));
        QCOMPARE(dialog.budget().tokens, std::int64_t{0});
    }

    void looks() {
        const QString pictures = qEnvironmentVariable("CUDA_AGENT_SCREENSHOTS");
        for (const bool dark : {false, true}) {
            Theme::instance().setScheme(dark ? Theme::Scheme::dark : Theme::Scheme::light);
            SessionDocument document;
            BudgetStrip strip(&document);
            document.append(events(4));
            strip.resize(700, strip.sizeHint().height());
            strip.show();
            QVERIFY(QTest::qWaitForWindowExposed(&strip));
            const QImage image = strip.grab().toImage();
            // The bar of the turns is used up, the one of the tokens is not.
            const QPoint corner = strip.turns().geometry().bottomRight();
            QCOMPARE(image.pixelColor(corner - QPoint(2, 0)), Theme::instance().colors().bad);
            QCOMPARE(image.pixelColor(strip.tokens().geometry().bottomRight() - QPoint(2, 0)),
                     Theme::instance().colors().border);
            if (!pictures.isEmpty())
                image.save(pictures + (dark ? QStringLiteral("/gauges-dark.png")
                                            : QStringLiteral("/gauges-light.png")));
        }
    }
};

QTEST_MAIN(BudgetTest)
#include "budget_test.moc"
