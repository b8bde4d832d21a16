// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/base/theme.h"
#include "widgets/timeline/replay.h"
#include "widgets/timeline/timeline_bar.h"
#include "widgets/timeline/turn_strip.h"

#include "tests/widgets/trace/sample_session.h"

#include <QAction>
#include <QComboBox>
#include <QElapsedTimer>
#include <QLabel>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTest>

using namespace cuda_agent;
using namespace cuda_agent::widgets;
using session::EventType;

namespace {
constexpr std::size_t before = 3; // events of the prelude
constexpr std::size_t each = 10;  // events of a turn
} // namespace

class TimelineTest : public QObject {
    Q_OBJECT
  private slots:
    void playMovesTheCursor();
    void longGapsAreCut();
    void playAtTheEndBeginsAgain();
    void stepsByEventAndTurn();
    void keys();
    void clickAndDragSeek();
    void stripTellsTheTurns();
    void placesThereAndBack();
    void jumpToTurn();
    void liveAndReplayed();
    void panesFollowTheCursor();
    void manyTurns();
    void nothingThere();
    void screenshots();

  private:
    static sample::Events turns(int count, double gap = 0.01) {
        sample::Events events(gap);
        events.prelude();
        for (int turn = 1; turn <= count; ++turn)
            events.turn(turn, turn % 2 == 0);
        return events;
    }
    static void show(QWidget &bar, int width = 700) {
        bar.resize(width, bar.sizeHint().height());
        bar.show();
        QVERIFY(QTest::qWaitForWindowExposed(&bar));
    }
    static QAction *action(TimelineBar &bar, const char *name) {
        return bar.findChild<QAction *>(QLatin1String(name));
    }
};

void TimelineTest::playMovesTheCursor() {
    const auto events = turns(4); // 43 events, 0.42 s
    SessionDocument document;
    document.replace(sample::indexOf(events.all));
    TimelineBar bar(&document);
    show(bar);
    document.setCursor(1);
    std::vector<std::size_t> places;
    connect(&document, &SessionDocument::cursorMoved, &bar,
            [&] { places.push_back(document.cursor()); });
    QElapsedTimer clock;
    clock.start();
    action(bar, "timeline.play")->trigger();
    QVERIFY(bar.replay().playing());
    QTRY_VERIFY(!bar.replay().playing());
    QVERIFY(document.atEnd());
    QVERIFY(std::is_sorted(places.begin(), places.end()));
    QVERIFY(places.size() > 5);
    QVERIFY(clock.elapsed() >= 400); // not faster than it happened

    // Twenty times as fast.
    bar.findChild<QComboBox *>(QStringLiteral("timeline.speed"))->setCurrentIndex(4);
    QCOMPARE(bar.replay().speed(), 20.0);
    document.setCursor(1);
    clock.start();
    bar.replay().play();
    QTRY_VERIFY(!bar.replay().playing());
    QVERIFY(clock.elapsed() < 400);

    document.setCursor(1);
    bar.replay().setSpeed(0.5);
    bar.replay().play();
    QTest::qWait(60);
    bar.replay().pause();
    const std::size_t paused = document.cursor();
    QVERIFY(paused < document.index().size());
    QTest::qWait(60);
    QCOMPARE(document.cursor(), paused);
}

void TimelineTest::longGapsAreCut() {
    sample::Events events;
    events.prelude();
    events.all[1].time = events.all[0].time + 3600;
    events.all[2].time = events.all[1].time - 50; // a clock that was set back
    SessionDocument document;
    document.replace(sample::indexOf(events.all));
    Replay replay(&document);
    QCOMPARE(replay.gapBefore(1), 2.0);
    QCOMPARE(replay.gapBefore(2), 0.0);
    document.setCursor(1);
    replay.setSpeed(20);
    replay.play();
    QTest::qWait(30);
    QCOMPARE(document.cursor(), std::size_t(1));
    QTRY_VERIFY(document.atEnd()); // after 0.1 s, not 180 s
}

void TimelineTest::playAtTheEndBeginsAgain() {
    const auto events = turns(1);
    SessionDocument document;
    document.replace(sample::indexOf(events.all));
    Replay replay(&document);
    replay.play();
    QVERIFY(document.cursor() < document.index().size());
    QTRY_VERIFY(document.atEnd());
}

void TimelineTest::stepsByEventAndTurn() {
    const auto events = turns(3);
    SessionDocument document;
    document.replace(sample::indexOf(events.all));
    TimelineBar bar(&document);
    bar.replay().stepEvent(-1);
    QCOMPARE(document.cursor(), events.all.size() - 1);
    bar.replay().stepTurn(-1); // the beginning of turn 3
    QCOMPARE(document.cursor(), before + 2 * each + 1);
    QCOMPARE(document.shownTurn(), 3);
    bar.replay().stepTurn(-1);
    QCOMPARE(document.cursor(), before + each + 1);
    bar.replay().stepTurn(1);
    QCOMPARE(document.cursor(), before + 2 * each); // all of turn 2
    bar.replay().stepTurn(1);
    QCOMPARE(document.cursor(), before + 3 * each);
    bar.replay().stepTurn(1);
    QVERIFY(document.atEnd());
    for (int i = 0; i < 5; ++i)
        bar.replay().stepTurn(-1);
    QCOMPARE(document.cursor(), std::size_t(0));
    bar.replay().stepEvent(-1);
    QCOMPARE(document.cursor(), std::size_t(0));
    QVERIFY(!action(bar, "timeline.previousEvent")->isEnabled());
    QVERIFY(action(bar, "timeline.nextEvent")->isEnabled());
}

void TimelineTest::keys() {
    const auto events = turns(3, 1);
    SessionDocument document;
    document.replace(sample::indexOf(events.all));
    TimelineBar bar(&document);
    show(bar);
    QTest::keyClick(&bar, Qt::Key_Home);
    QCOMPARE(document.cursor(), std::size_t(0));
    QTest::keyClick(&bar, Qt::Key_Right);
    QCOMPARE(document.cursor(), std::size_t(1));
    QTest::keyClick(&bar, Qt::Key_Right, Qt::ShiftModifier);
    QCOMPARE(document.cursor(), before + each);
    QTest::keyClick(&bar, Qt::Key_Left);
    QCOMPARE(document.cursor(), before + each - 1);
    QTest::keyClick(&bar, Qt::Key_Left, Qt::ShiftModifier);
    QCOMPARE(document.cursor(), before + 1);
    QTest::keyClick(&bar, Qt::Key_Space);
    QVERIFY(bar.replay().playing());
    QTest::keyClick(&bar, Qt::Key_Space);
    QVERIFY(!bar.replay().playing());
    QTest::keyClick(&bar, Qt::Key_End);
    QVERIFY(document.atEnd());
}

void TimelineTest::clickAndDragSeek() {
    const auto events = turns(4);
    SessionDocument document;
    document.replace(sample::indexOf(events.all));
    TimelineBar bar(&document);
    show(bar);
    TurnStrip &strip = bar.strip();
    const int y = strip.height() / 2;
    const auto xOfMiddle = [&](int turn) {
        return int(strip.xOf(before + each * std::size_t(turn - 1) + each / 2));
    };
    QTest::mouseClick(&strip, Qt::LeftButton, {}, QPoint(xOfMiddle(2), y));
    QCOMPARE(document.shownTurn(), 2);
    QVERIFY(std::abs(int(document.cursor()) - int(before + each + each / 2)) <= 1);
    QTest::mousePress(&strip, Qt::LeftButton, {}, QPoint(xOfMiddle(2), y));
    const auto drag = [&](const QPoint &to) {
        QMouseEvent move(QEvent::MouseMove, to, strip.mapToGlobal(to), Qt::NoButton, Qt::LeftButton,
                         Qt::NoModifier);
        QCoreApplication::sendEvent(&strip, &move);
    };
    drag(QPoint(xOfMiddle(4), y));
    QCOMPARE(document.shownTurn(), 4);
    drag(QPoint(-50, y));
    QCOMPARE(document.cursor(), std::size_t(0));
    drag(QPoint(strip.width() + 50, y));
    QVERIFY(document.atEnd());
}

void TimelineTest::stripTellsTheTurns() {
    sample::Events events;
    events.prelude().turn(1, false).turn(2, true);
    events.add(EventType::turnStarted, 3, Json::object()); // cut off, then done again
    events.add(EventType::turnStarted, 3, {{"author", "engineer"}});
    SessionDocument document;
    document.replace(sample::indexOf(events.all));
    TimelineBar bar(&document);
    const auto &segments = bar.strip().segments();
    QCOMPARE(segments.size(), std::size_t(4));
    QCOMPARE(segments[1].outcome, TurnStrip::Outcome::wrong);
    QCOMPARE(segments[2].outcome, TurnStrip::Outcome::correct);
    QCOMPARE(segments[3].outcome, TurnStrip::Outcome::none);
    QVERIFY(segments[3].engineer);
    QVERIFY(!segments[2].engineer);
    const QString told = bar.strip().tellAbout(2);
    QVERIFY(told.startsWith(QStringLiteral("Turn 2\nCorrect\n")));
    QVERIFY(told.contains(QStringLiteral("a thread takes a whole row")));
    QVERIFY(bar.strip().tellAbout(3).contains(QStringLiteral("engineer")));
    QVERIFY(bar.strip().tellAbout(99).isEmpty());
    // The strip grows with the log.
    sample::Events more;
    more.all = events.all;
    more.turn(4, true);
    document.append({more.all.begin() + std::ptrdiff_t(events.all.size()), more.all.end()});
    QCOMPARE(bar.strip().segments().size(), std::size_t(5));
    QCOMPARE(bar.strip().segments()[4].outcome, TurnStrip::Outcome::correct);
    // Another log starts it over.
    document.replace(sample::indexOf(turns(1).all));
    QCOMPARE(bar.strip().segments().size(), std::size_t(2));
    QCOMPARE(bar.strip().segments()[1].outcome, TurnStrip::Outcome::wrong);
}

void TimelineTest::placesThereAndBack() {
    const auto events = turns(5);
    SessionDocument document;
    document.replace(sample::indexOf(events.all));
    TurnStrip strip(&document);
    strip.resize(1200, 26);
    for (std::size_t at = 0; at <= events.all.size(); ++at)
        QCOMPARE(strip.eventAt(strip.xOf(at)), at);
}

void TimelineTest::jumpToTurn() {
    const auto events = turns(3);
    SessionDocument document;
    document.replace(sample::indexOf(events.all));
    TimelineBar bar(&document);
    auto *turn = bar.findChild<QSpinBox *>(QStringLiteral("timeline.turn"));
    QCOMPARE(turn->maximum(), 3);
    QCOMPARE(turn->value(), 3);
    turn->setValue(2);
    QCOMPARE(document.cursor(), before + 2 * each);
    QCOMPARE(document.shownTurn(), 2);
    document.setCursor(0);
    QCOMPARE(turn->value(), 0);
}

void TimelineTest::liveAndReplayed() {
    sample::Events events = turns(2);
    SessionDocument document;
    TimelineBar bar(&document);
    auto *state = bar.findChild<QLabel *>(QStringLiteral("timeline.state"));
    QVERIFY(!bar.live());
    for (const session::Event &event : events.all)
        document.append({event});
    QVERIFY(bar.live());
    QVERIFY(state->text().contains(QStringLiteral("Live")));
    document.setCursor(4);
    QVERIFY(!bar.live());
    QVERIFY(state->text().startsWith(QStringLiteral("Event 4 of 23")));
    sample::Events more;
    more.all = events.all;
    more.turn(3, true);
    more.add(EventType::sessionEnded, 0, {{"reason", "done"}});
    document.append({more.all.begin() + 23, more.all.end() - 1});
    QVERIFY(state->text().startsWith(QStringLiteral("Event 4 of 33")));
    bar.replay().toEnd();
    QVERIFY(bar.live());
    document.append({more.all.back()});
    QVERIFY(!bar.live());
    // A log that was opened is not live, be it ended or not.
    document.replace(sample::indexOf(events.all));
    QVERIFY(!bar.live());
    document.setCursor(3);
    document.toEnd();
    QVERIFY(!bar.live());
}

void TimelineTest::panesFollowTheCursor() {
    const auto events = turns(3);
    SessionDocument document;
    document.replace(sample::indexOf(events.all));
    Replay replay(&document);
    document.selectTurn(1);
    replay.seek(before + 2 * each);
    QCOMPARE(document.shownTurn(), 2);
    QCOMPARE(document.cursor(), before + 2 * each);
}

void TimelineTest::manyTurns() {
    SessionDocument document;
    TimelineBar bar(&document);
    show(bar);
    SessionIndex big = sample::big(100'000);
    QElapsedTimer clock;
    qint64 longest = 0;
    const auto measure = [&](const auto &does) {
        clock.start();
        does();
        longest = std::max(longest, clock.elapsed());
    };
    measure([&] { document.replace(std::move(big)); });
    while (bar.strip().busy())
        measure([] { QCoreApplication::processEvents(); });
    measure([&] { bar.grab(); });
    measure([&] { document.setCursor(50'000); });
    measure([&] { bar.grab(); });
    measure([&] { bar.replay().stepTurn(-1); });
    qInfo("longest block %lld ms", static_cast<long long>(longest));
    QVERIFY(longest < 150); // 50 on a machine that has nothing else to do
    QVERIFY(bar.strip().segments().size() > 9'000);
    QCOMPARE(bar.strip().eventAt(bar.strip().xOf(100'000)), std::size_t(100'000));
}

void TimelineTest::nothingThere() {
    SessionDocument document;
    TimelineBar bar(&document);
    show(bar);
    for (QAction *each_ : bar.actions())
        each_->trigger();
    for (const int key : {Qt::Key_Space, Qt::Key_Left, Qt::Key_Right, Qt::Key_Home, Qt::Key_End})
        QTest::keyClick(&bar, Qt::Key(key));
    QTest::mouseClick(&bar.strip(), Qt::LeftButton);
    QVERIFY(!bar.replay().playing());
    bar.grab();
    for (const QAction *named : bar.actions())
        QVERIFY(named->objectName().startsWith(QStringLiteral("timeline.")));
}

void TimelineTest::screenshots() {
    const QString folder = qEnvironmentVariable("CUDA_AGENT_SCREENSHOTS");
    if (folder.isEmpty())
        QSKIP("set CUDA_AGENT_SCREENSHOTS to a folder");
    sample::Events events;
    events.prelude().turn(1, false).turn(2, true).turn(3, true);
    events.add(EventType::turnStarted, 4, {{"author", "engineer"}});
    events.add(EventType::thought, 4, {{"text", "By hand."}});
    events.turn(5, true).turn(6, false);
    SessionDocument document;
    for (const bool dark : {false, true}) {
        Theme::instance().setScheme(dark ? Theme::Scheme::dark : Theme::Scheme::light);
        document.replace({});
        TimelineBar bar(&document);
        document.append(events.all);
        const auto save = [&](const char *what) {
            QTest::qWait(10);
            QVERIFY(
                bar.grab().save(QStringLiteral("%1/timeline-%2-%3.png")
                                    .arg(folder, QLatin1String(what),
                                         dark ? QStringLiteral("dark") : QStringLiteral("light"))));
        };
        show(bar);
        save("live");
        document.setCursor(before + 3 * each - 4);
        save("back");
        bar.resize(300, bar.height());
        save("small");
    }
}

QTEST_MAIN(TimelineTest)
#include "timeline_test.moc"
