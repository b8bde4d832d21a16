// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/base/theme.h"
#include "widgets/trace/find_bar.h"
#include "widgets/trace/trace_pane.h"
#include "widgets/trace/trace_view.h"

#include "tests/widgets/trace/sample_session.h"

#include <QClipboard>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollBar>
#include <QSettings>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTest>

using namespace cuda_agent;
using namespace cuda_agent::widgets;
using session::EventType;

namespace {

void letItRun(int times = 20) {
    for (int i = 0; i < times; ++i)
        QTest::qWait(2);
}

} // namespace

class TracePaneTest : public QObject {
    Q_OBJECT
  private slots:
    void initTestCase();
    void init();
    void followsTheEndUntilTheReaderScrolls();
    void replayKeepsThePlace();
    void foldsByKeyAndClick();
    void foldLinesAreRemembered();
    void keysMoveBetweenCards();
    void clickSelectsTheTurn();
    void choiceElsewhereShowsTheTurn();
    void findBar();
    void longBodiesInParts();
    void selectsAndCopies();
    void copiesThread();
    void actionsForThePalette();
    void aLateMatchDoesNotScroll();
    void screenshots();

  private:
    static QAction *action(TracePane &pane, const char *name) {
        return pane.findChild<QAction *>(QLatin1String(name));
    }
    static void show(QWidget &pane, int width = 500, int height = 400) {
        pane.resize(width, height);
        pane.show();
        QVERIFY(QTest::qWaitForWindowExposed(&pane));
        letItRun(3);
    }
    static sample::Events someTurns(int turns) {
        sample::Events events;
        events.prelude();
        for (int turn = 1; turn <= turns; ++turn)
            events.turn(turn, turn % 2 == 0);
        return events;
    }
};

void TracePaneTest::initTestCase() {
    QStandardPaths::setTestModeEnabled(true);
    QCoreApplication::setOrganizationName(QStringLiteral("cuda-agent-test"));
    QCoreApplication::setApplicationName(QStringLiteral("trace"));
}

void TracePaneTest::init() {
    QSettings().clear();
}

void TracePaneTest::followsTheEndUntilTheReaderScrolls() {
    sample::Events events = someTurns(12);
    SessionDocument document;
    TracePane pane(&document);
    show(pane);
    auto *jump = pane.view().viewport()->findChild<QPushButton *>();
    QVERIFY(jump);
    const std::size_t half = events.all.size() / 2;
    for (std::size_t i = 0; i < half; ++i)
        document.append({events.all[i]});
    letItRun();
    QVERIFY(pane.view().atEnd());
    QVERIFY(!jump->isVisible());
    QCOMPARE(pane.view().verticalScrollBar()->value(), pane.view().verticalScrollBar()->maximum());

    QWheelEvent wheel(QPointF(50, 50), pane.view().viewport()->mapToGlobal(QPointF(50, 50)), {},
                      QPoint(0, 600), Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(pane.view().viewport(), &wheel);
    QVERIFY(!pane.view().atEnd());
    QVERIFY(jump->isVisible());
    const auto place = pane.view().topPlace();
    const QImage before = pane.view().viewport()->grab().toImage();
    for (std::size_t i = half; i < events.all.size(); ++i) {
        document.append({events.all[i]});
        if (i % 5 == 0)
            pane.setPending(QStringLiteral("working"));
        letItRun(1);
        QCOMPARE(pane.view().topPlace(), place);
    }
    // The very pixels stay, but for the mark of the turn that is shown elsewhere.
    const QImage after = pane.view().viewport()->grab().toImage();
    QCOMPARE(after.copy(60, 0, 300, 200), before.copy(60, 0, 300, 200));

    QTest::mouseClick(jump, Qt::LeftButton);
    QVERIFY(pane.view().atEnd());
    QVERIFY(pane.view().followsEnd());
    QVERIFY(!jump->isVisible());
    pane.setPending(QStringLiteral("one more"));
    QVERIFY(pane.view().atEnd());
    pane.resize(320, 300);
    letItRun(3);
    QVERIFY(pane.view().atEnd());
}

void TracePaneTest::replayKeepsThePlace() {
    sample::Events events = someTurns(10);
    SessionDocument document;
    document.replace(sample::indexOf(events.all));
    TracePane pane(&document);
    show(pane);
    pane.view().showRow(5);
    const auto place = pane.view().topPlace();
    QCOMPARE(place.first, 5);
    document.setCursor(events.all.size() - 20);
    document.toEnd();
    QCOMPARE(pane.view().topPlace(), place);
    document.setCursor(2);
    QVERIFY(pane.view().atEnd());
    document.setCursor(0);
    pane.grab();
}

void TracePaneTest::foldsByKeyAndClick() {
    sample::Events events;
    events.prelude().turn(1, true, 40);
    SessionDocument document;
    document.replace(sample::indexOf(events.all));
    TracePane pane(&document);
    show(pane, 500, 900);
    TraceView &view = pane.view();
    const int write = 5;
    QCOMPARE(pane.model().kindOf(write), CardKind::action);
    QVERIFY(view.layoutOf(write).foldable());
    const int folded = view.layoutOf(write).height();
    view.setCurrentRow(write);
    QTest::keyClick(&view, Qt::Key_Return);
    const int open = view.layoutOf(write).height();
    QVERIFY(open > folded + 30 * QFontMetrics(view.font()).height());
    QTest::keyClick(&view, Qt::Key_Return);
    QCOMPARE(view.layoutOf(write).height(), folded);
    // The words below the card, at its bottom left.
    const auto click = [&] {
        const QRect card = view.cardRect(write);
        QVERIFY(!card.isEmpty());
        for (int y = card.bottom(); y > card.top(); --y) {
            const QPoint at(30, y);
            if (view.layoutOf(write).spotAt(at - card.topLeft()) == CardLayout::Spot::fold) {
                QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, at);
                return;
            }
        }
        QFAIL("no words to click");
    };
    click();
    QVERIFY(!pane.model().folded(write));
    QCOMPARE(view.layoutOf(write).height(), open);
    action(pane, "trace.collapseAll")->trigger();
    QCOMPARE(view.layoutOf(write).height(), folded);
    action(pane, "trace.expandAll")->trigger();
    QCOMPARE(view.layoutOf(write).height(), open);
    // A short card has nothing to fold.
    QVERIFY(!view.layoutOf(write + 1).foldable());
    view.setCurrentRow(write);
    QTest::keyClick(&view, Qt::Key_Left);
    QVERIFY(pane.model().folded(write));
    QTest::keyClick(&view, Qt::Key_Right);
    QVERIFY(!pane.model().folded(write));
}

void TracePaneTest::foldLinesAreRemembered() {
    sample::Events events;
    std::string text;
    for (int i = 0; i < 50; ++i)
        text += "line\n";
    events.add(EventType::observation, 1, {{"ok", true}, {"text", text}});
    SessionDocument document;
    document.replace(sample::indexOf(events.all));
    int atEight = 0;
    {
        TracePane pane(&document);
        show(pane);
        QCOMPARE(pane.view().foldLines(), 8);
        atEight = pane.view().layoutOf(0).height();
        pane.setFoldLines(3);
        QVERIFY(pane.view().layoutOf(0).height() < atEight);
    }
    TracePane pane(&document);
    QCOMPARE(pane.view().foldLines(), 3);
    QCOMPARE(QSettings().value(QStringLiteral("trace/foldLines")).toInt(), 3);
}

void TracePaneTest::keysMoveBetweenCards() {
    sample::Events events = someTurns(8);
    SessionDocument document;
    document.replace(sample::indexOf(events.all));
    TracePane pane(&document);
    show(pane);
    TraceView &view = pane.view();
    view.setFocus();
    QTest::keyClick(&view, Qt::Key_Home);
    QCOMPARE(view.currentRow(), 0);
    QCOMPARE(view.topPlace(), std::pair(0, 0));
    for (int row = 1; row < pane.model().rowCount(); ++row) {
        QTest::keyClick(&view, Qt::Key_Down);
        QCOMPARE(view.currentRow(), row);
        const QRect card = view.cardRect(row);
        QVERIFY(card.top() >= 0 && card.bottom() < view.viewport()->height());
    }
    QVERIFY(view.accessibleName().contains(QStringLiteral("Turn 8: Result of Verify")));
    QVERIFY(view.accessibleDescription().startsWith(QStringLiteral("correct, reward 3")));
    QTest::keyClick(&view, Qt::Key_Up);
    QCOMPARE(view.currentRow(), pane.model().rowCount() - 2);
    QTest::keyClick(&view, Qt::Key_PageUp);
    QVERIFY(view.currentRow() < pane.model().rowCount() - 3);
    QTest::keyClick(&view, Qt::Key_PageDown);
    QTest::keyClick(&view, Qt::Key_End);
    QVERIFY(view.atEnd());
    QCOMPARE(view.currentRow(), pane.model().rowCount() - 1);
}

void TracePaneTest::clickSelectsTheTurn() {
    sample::Events events = someTurns(8);
    SessionDocument document;
    document.replace(sample::indexOf(events.all));
    TracePane pane(&document);
    show(pane);
    const int row = pane.model().rowsOfTurn(3).first + 1;
    pane.view().showRow(row);
    const auto place = pane.view().topPlace();
    QTest::mouseClick(pane.view().viewport(), Qt::LeftButton, {},
                      pane.view().cardRect(row).center());
    QCOMPARE(document.selectedTurn(), 3);
    QCOMPARE(pane.view().currentRow(), row);
    QCOMPARE(pane.view().topPlace(), place);
}

void TracePaneTest::choiceElsewhereShowsTheTurn() {
    sample::Events events = someTurns(8);
    SessionDocument document;
    document.replace(sample::indexOf(events.all));
    TracePane pane(&document);
    show(pane);
    document.selectTurn(2);
    QCOMPARE(pane.view().topPlace(), std::pair(pane.model().rowsOfTurn(2).first, 0));
    action(pane, "trace.nextTurn")->trigger();
    QCOMPARE(document.selectedTurn(), 3);
    action(pane, "trace.jumpToLatest")->trigger();
    QCOMPARE(document.selectedTurn(), 0);
    QVERIFY(pane.view().atEnd());
}

void TracePaneTest::findBar() {
    sample::Events events = someTurns(8);
    SessionDocument document;
    document.replace(sample::indexOf(events.all));
    TracePane pane(&document);
    show(pane);
    TraceView &view = pane.view();
    view.setFocus();
    QTest::keyClick(&view, Qt::Key_Home);
    QTest::keyClick(&view, Qt::Key_F, Qt::ControlModifier);
    auto *edit = pane.findChild<QLineEdit *>(QStringLiteral("trace.findText"));
    auto *count = pane.findChild<QLabel *>(QStringLiteral("trace.findCount"));
    QVERIFY(edit->isVisible());
    QTRY_VERIFY(edit->hasFocus());
    QTest::keyClicks(edit, QStringLiteral("line 21 of"));
    QTRY_COMPARE(count->text(), QStringLiteral("1 of 8"));
    // The match is in folded text: its card has been opened and the line is in sight.
    const int first = pane.model().rowsOfTurn(1).first + 2;
    QCOMPARE(view.currentRow(), first);
    QVERIFY(!pane.model().folded(first));
    const auto inSight = [&] {
        const auto match =
            pane.finder().matches()[std::size_t(count->text().split(u' ')[0].toInt() - 1)];
        const auto [top, bottom] = view.layoutOf(match.row).lineOf(match.begin);
        const QRect card = view.cardRect(match.row);
        return !card.isEmpty() && card.top() + top >= 0 &&
               card.top() + bottom <= view.viewport()->height();
    };
    QVERIFY(inSight());
    QTest::keyClick(edit, Qt::Key_F3);
    QCOMPARE(count->text(), QStringLiteral("2 of 8"));
    QVERIFY(inSight());
    QTest::keyClick(edit, Qt::Key_F3, Qt::ShiftModifier);
    QTest::keyClick(edit, Qt::Key_F3, Qt::ShiftModifier);
    QCOMPARE(count->text(), QStringLiteral("8 of 8")); // goes round
    QVERIFY(inSight());
    edit->setText(QStringLiteral("nowhere at all"));
    QTRY_COMPARE(count->text(), QStringLiteral("No match"));
    QTest::keyClick(edit, Qt::Key_Escape);
    QVERIFY(!edit->isVisible());
    QVERIFY(pane.finder().matches().empty());
    QTRY_VERIFY(view.hasFocus());
}

void TracePaneTest::longBodiesInParts() {
    sample::Events events;
    std::string text;
    for (int i = 0; i < 3500; ++i)
        text += "row " + std::to_string(i) + "\n";
    events.add(EventType::observation, 1, {{"ok", true}, {"text", text}});
    events.add(EventType::note, 1, {{"text", "after"}});
    SessionDocument document;
    document.replace(sample::indexOf(events.all));
    TracePane pane(&document);
    show(pane);
    action(pane, "trace.find")->trigger();
    auto *edit = pane.findChild<QLineEdit *>(QStringLiteral("trace.findText"));
    edit->setText(QStringLiteral("row 3210"));
    QTRY_COMPARE(pane.view().layoutOf(0).part(), 3);
    const auto [top, bottom] = pane.view().layoutOf(0).lineOf(pane.finder().matches()[0].begin);
    QVERIFY(pane.view().cardRect(0).top() + top >= 0);
    QVERIFY(pane.view().cardRect(0).top() + bottom <= pane.view().viewport()->height());
    pane.view().toggleFold(0);
    QVERIFY(pane.model().folded(0));
    QVERIFY(pane.view().layoutOf(0).height() < 400);
}

void TracePaneTest::selectsAndCopies() {
    sample::Events events = someTurns(2);
    SessionDocument document;
    document.replace(sample::indexOf(events.all));
    TracePane pane(&document);
    show(pane);
    TraceView &view = pane.view();
    const int row = pane.model().rowsOfTurn(1).first + 1;
    view.showRow(row);
    const QRect card = view.cardRect(row);
    QPoint at;
    for (int y = card.top(); y < card.bottom() && at.isNull(); ++y)
        if (view.layoutOf(row).spotAt(QPoint(40, y) - card.topLeft()) == CardLayout::Spot::body)
            at = QPoint(40, y + 3);
    QVERIFY(!at.isNull());
    QTest::mousePress(view.viewport(), Qt::LeftButton, {}, at - QPoint(25, 0));
    QMouseEvent move(QEvent::MouseMove, at + QPoint(40, 0),
                     view.viewport()->mapToGlobal(at + QPoint(40, 0)), Qt::NoButton, Qt::LeftButton,
                     Qt::NoModifier);
    QCoreApplication::sendEvent(view.viewport(), &move);
    QTest::mouseRelease(view.viewport(), Qt::LeftButton, {}, at + QPoint(40, 0));
    const QString selected = view.selectedText();
    QVERIFY(!selected.isEmpty());
    QVERIFY(QStringLiteral("Turn 1: a thread takes a whole row").contains(selected));
    view.setFocus();
    QTest::keyClick(&view, Qt::Key_C, Qt::ControlModifier);
    QCOMPARE(QGuiApplication::clipboard()->text(), selected);
    QTest::mouseDClick(view.viewport(), Qt::LeftButton, {}, at);
    QVERIFY(!view.selectedText().contains(u' '));

    QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, at); // takes the selection away
    action(pane, "trace.copyCard")->trigger();
    QVERIFY(QGuiApplication::clipboard()->text().startsWith(QStringLiteral("Thought\nTurn 1: a")));
    action(pane, "trace.copyTurn")->trigger();
    QVERIFY(QGuiApplication::clipboard()->text().startsWith(QStringLiteral("## Turn 1")));
}

void TracePaneTest::copiesThread() {
    sample::Events events = someTurns(3);
    SessionDocument document;
    document.replace(sample::indexOf(events.all));
    TracePane pane(&document);
    QSignalSpy copied(&pane, &TracePane::threadCopied);
    action(pane, "trace.copyThread")->trigger();
    QVERIFY(copied.wait());
    const QString text = QGuiApplication::clipboard()->text();
    QVERIFY(text.startsWith(QStringLiteral("# Session: softmax")));
    QCOMPARE(text.count(QStringLiteral("\n## Turn ")), 3);
}

void TracePaneTest::actionsForThePalette() {
    SessionDocument document;
    TracePane pane(&document);
    QVERIFY(pane.actions().size() >= 10);
    for (const QAction *each : pane.actions()) {
        QVERIFY(each->objectName().startsWith(QStringLiteral("trace.")));
        QVERIFY(!each->text().isEmpty());
    }
    // Nothing is there: every action is safe.
    for (QAction *each : pane.actions())
        if (each->objectName() != QLatin1String("trace.foldLines"))
            each->trigger();
    letItRun(3);
}

void TracePaneTest::aLateMatchDoesNotScroll() {
    sample::Events events = someTurns(6);
    SessionDocument document;
    document.replace(sample::indexOf(events.all));
    TracePane pane(&document);
    show(pane);
    pane.view().showRow(4);
    const auto place = pane.view().topPlace();
    action(pane, "trace.find")->trigger();
    auto *count = pane.findChild<QLabel *>(QStringLiteral("trace.findCount"));
    pane.findChild<QLineEdit *>(QStringLiteral("trace.findText"))
        ->setText(QStringLiteral("needle"));
    QTRY_COMPARE(count->text(), QStringLiteral("No match"));
    sample::Events more;
    more.all = events.all;
    more.add(EventType::note, 6, {{"text", "a needle"}});
    document.append({more.all.back()});
    QTRY_COMPARE(count->text(), QStringLiteral("1"));
    QCOMPARE(pane.view().topPlace(), place);
    QTest::keyClick(&pane, Qt::Key_F3);
    QCOMPARE(count->text(), QStringLiteral("1 of 1"));
    QVERIFY(pane.view().atEnd());
}

void TracePaneTest::screenshots() {
    const QString folder = qEnvironmentVariable("CUDA_AGENT_SCREENSHOTS");
    if (folder.isEmpty())
        QSKIP("set CUDA_AGENT_SCREENSHOTS to a folder");
    sample::Events events = someTurns(3);
    events.add(EventType::turnStarted, 4, {{"author", "engineer"}});
    events.add(EventType::thought, 4,
               {{"text", "A thought that goes over several lines, since it says what was measured, "
                         "why it was slower than expected, and what comes next; 中文也要能读。"}});
    events.add(EventType::modelAnswered, 4,
               {{"model", "some-model"},
                {"prompt_tokens", 12345},
                {"answer_tokens", 678},
                {"cost", 0.0123},
                {"seconds", 4.2},
                {"attempts", 2}});
    events.add(
        EventType::action, 4,
        {{"tool", "Search"}, {"id", "q"}, {"arguments", {{"query", "warp shuffle"}, {"most", 5}}}});
    std::string log;
    for (int i = 0; i < 30; ++i)
        log += "kernels/row.cu:" + std::to_string(i) + ":5: warning: variable is never used\n";
    events.add(EventType::observation, 4,
               {{"ok", false}, {"id", "q"}, {"seconds", 12.5}, {"text", log}});
    events.add(EventType::note, 4, {{"text", "The machine throttled while timing."}});
    SessionDocument document;
    SessionIndex index = sample::indexOf(events.all);
    // A session of one's own instead of the sample.
    if (const QByteArray own = qgetenv("CUDA_AGENT_SESSION"); !own.isEmpty()) {
        auto loaded = loadSession(own.toStdString());
        QVERIFY(loaded.has_value());
        index = std::move(loaded->index);
    }
    for (const bool dark : {false, true}) {
        Theme::instance().setScheme(dark ? Theme::Scheme::dark : Theme::Scheme::light);
        const QString scheme = dark ? QStringLiteral("dark") : QStringLiteral("light");
        document.replace({});
        TracePane pane(&document);
        const auto save = [&](const char *what) {
            letItRun(5);
            QVERIFY(pane.grab().save(
                QStringLiteral("%1/trace-%2-%3.png").arg(folder, QLatin1String(what), scheme)));
        };
        show(pane, 520, 700);
        save("empty");
        document.replace(SessionIndex(index));
        save("end");
        pane.setPending(QStringLiteral("Verifying: 5 of 11 cases"));
        save("pending");
        pane.view().showRow(0);
        pane.view().setCurrentRow(4);
        save("top");
        action(pane, "trace.find")->trigger();
        pane.findChild<QLineEdit *>(QStringLiteral("trace.findText"))
            ->setText(QStringLiteral("line 2"));
        save("find");
        pane.resize(300, 200);
        pane.view().showRow(3);
        save("small");
    }
}

QTEST_MAIN(TracePaneTest)
#include "trace_pane_test.moc"
