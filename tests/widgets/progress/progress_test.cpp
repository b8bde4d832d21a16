// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/widgets/plot/judged_session.h"
#include "widgets/plot/plot.h"
#include "widgets/progress/progress_pane.h"

#include <QComboBox>
#include <QElapsedTimer>
#include <QLabel>
#include <QTest>
#include <qcustomplot.h>

using namespace cuda_agent::widgets;
using cuda_agent::Json;

class ProgressTest : public QObject {
    Q_OBJECT
  private:
    static judged::Session sample() {
        judged::Session session;
        session.begin()
            .notCompiled(1)
            .wrong(2)
            .correct(3, 0.0022)
            .correct(4, 0.0018)
            .wrong(5)
            .correct(6, 0.0019)
            .correct(7, 0.0014, "engineer");
        return session;
    }

  private slots:
    void dataFollowTheLog() {
        SessionDocument document;
        document.replace(sample().index());
        const ProgressData eager = progressOf(document, Against::eager);
        QCOMPARE(eager.turns.size(), std::size_t(7));
        QVERIFY(!eager.turns[0].compiled);
        QVERIFY(!eager.turns[1].correct);
        QCOMPARE(eager.turns[3].speedup, 0.0021 / 0.0018);
        QVERIFY(eager.turns[6].engineer);
        // core/reward: 2 is eager > 1.05 candidate, 3 both.
        QCOMPARE(eager.milestones.size(), std::size_t(3));
        QCOMPARE(eager.milestones[1].speedup, 1.05);
        QCOMPARE(eager.milestones[2].speedup, 0.0021 * 1.05 / 0.0019);
        const ProgressData compile = progressOf(document, Against::compile);
        QCOMPARE(compile.milestones[2].speedup, 1.05);
        QCOMPARE(compile.turns[6].speedup, 0.0019 / 0.0014);
        const ProgressData limit = progressOf(document, Against::limit);
        QCOMPARE(limit.turns[6].speedup, 0.0008 / 0.0014);
        QCOMPARE(limit.milestones[1].speedup, 0.0008 * 1.05 / 0.0021);
        // Every correct turn lies on the side of the milestones that its reward says.
        for (const auto &data : {eager, compile, limit})
            for (const TurnResult &turn : data.turns)
                for (const Milestone &milestone : data.milestones)
                    if (turn.correct)
                        QCOMPARE(turn.speedup > milestone.speedup, turn.reward >= milestone.reward);
    }

    void missingBaselinesHaveNoMilestone() {
        judged::Session session;
        session.add(judged::EventType::baselinesMeasured, 0,
                    {{"eager", judged::Session::time(0.002)}, {"problems", {{"compile", "no"}}}});
        session.correct(1, 0.001);
        SessionDocument document;
        document.replace(session.index());
        QCOMPARE(progressOf(document, Against::eager).milestones.size(), std::size_t(2));
        QCOMPARE(progressOf(document, Against::compile).milestones.size(), std::size_t(1));
    }

    void thePlotShowsTheTurns() {
        SessionDocument document;
        ProgressPane pane(&document);
        pane.resize(560, 300);
        pane.show();
        QVERIFY(QTest::qWaitForWindowExposed(&pane));
        QVERIFY(pane.plot().accessibleDescription().contains(QLatin1String("Press Run")));
        judged::photograph(pane, QStringLiteral("progress-empty"));
        document.replace(sample().index());
        QTRY_COMPARE(pane.plot().series().size(), std::size_t(3));
        const auto &series = pane.plot().series();
        QCOMPARE(series[0].x, (std::vector<double>{3, 4, 6, 7}));
        QCOMPARE(series[1].x, (std::vector<double>{1, 2, 5}));
        QCOMPARE(series[2].y.back(), 0.0021 / 0.0014);
        QVERIFY(std::is_sorted(series[2].y.begin(), series[2].y.end()));
        for (const double y : series[1].y)
            QVERIFY(y < 0);
        judged::photograph(pane, QStringLiteral("progress"));
        pane.setAgainst(Against::limit);
        judged::photograph(pane, QStringLiteral("progress-limit"));
        pane.resize(300, 200);
        judged::photograph(pane, QStringLiteral("progress-small"));
    }

    void aClickSelectsTheTurn() {
        SessionDocument document;
        document.replace(sample().index());
        ProgressPane pane(&document);
        pane.resize(560, 300);
        pane.show();
        QVERIFY(QTest::qWaitForWindowExposed(&pane));
        QCustomPlot &canvas = pane.plot().canvas();
        canvas.replot();
        const auto click = [&](double x, double y) {
            QTest::mouseClick(&canvas, Qt::LeftButton, {},
                              QPoint(static_cast<int>(canvas.xAxis->coordToPixel(x)),
                                     static_cast<int>(canvas.yAxis->coordToPixel(y))));
        };
        click(4, 0.0021 / 0.0018);
        QCOMPARE(document.selectedTurn(), 4);
        QTest::qWait(100);
        canvas.replot();
        click(5, pane.plot().series()[1].y[2]);
        QCOMPARE(document.selectedTurn(), 5);
        // The same by keyboard.
        pane.activateWindow();
        pane.plot().setFocus();
        QTest::keyClick(&pane.plot(), Qt::Key_PageDown);
        QCOMPARE(document.selectedTurn(), 6);
        QTest::keyClick(&pane.plot(), Qt::Key_PageUp);
        QTest::qWait(100);
        QTest::keyClick(&pane.plot(), Qt::Key_PageUp);
        QCOMPARE(document.selectedTurn(), 4);
        QVERIFY(pane.turnText(pane.data().turns[6]).contains(QLatin1String("by hand")));
        QVERIFY(pane.turnText(pane.data().turns[0]).contains(QLatin1String("does not compile")));
    }

    void replayShowsOnlyWhatHasHappened() {
        SessionDocument document;
        const judged::Session session = sample();
        document.replace(session.index());
        ProgressPane pane(&document);
        pane.show();
        QVERIFY(QTest::qWaitForWindowExposed(&pane));
        document.setCursor(session.events.size() - 8); // before turn 6
        QTRY_COMPARE(pane.data().turns.size(), std::size_t(5));
        document.toEnd();
        QTRY_COMPARE(pane.data().turns.size(), std::size_t(7));
    }

    void manyTurnsDoNotStall() {
        judged::Session session;
        session.begin();
        for (int turn = 1; turn <= 5000; ++turn)
            session.correct(turn, 0.0014 + 1e-7 * (turn % 1000));
        SessionDocument document;
        document.replace(session.index());
        QElapsedTimer timer;
        timer.start();
        const ProgressData data = progressOf(document, Against::eager);
        const qint64 took = timer.elapsed();
        QCOMPARE(data.turns.size(), std::size_t(5000));
        QVERIFY2(took < 50, qPrintable(QString::number(took)));
    }
};

QTEST_MAIN(ProgressTest)
#include "progress_test.moc"
