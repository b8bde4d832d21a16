// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/device/quarantine.h"
#include "core/session/log.h"
#include "widgets/attempts/attempts_model.h"
#include "widgets/attempts/attempts_pane.h"
#include "widgets/base/text.h"
#include "widgets/bridge/attempts_runner.h"
#include "widgets/shell/main_window.h"
#include "widgets/shell/message_bar.h"
#include "widgets/shell/session_view.h"
#include "widgets/tools/permissions_model.h"

#include <QAction>
#include <QElapsedTimer>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

using namespace cuda_agent;
using namespace cuda_agent::widgets;
using State = SessionRunner::State;

/// Several attempts from the window, with the real engine on the cpu device.
class AttemptsFlowTest : public QObject {
    Q_OBJECT
  private:
    QTemporaryDir folder_;
    QString task_;
    static constexpr int patience = 240'000; // milliseconds on a busy machine

    static session::Contents logOf(const std::filesystem::path &folder, int attempt) {
        auto contents = session::readLog(attemptFolder(folder, attempt));
        return contents ? std::move(*contents) : session::Contents();
    }
    SessionView *prepared(MainWindow &window, int attempts) {
        SessionView *view = window.openTask(task_);
        Choices choices = view->choices();
        choices.device = QStringLiteral("cpu");
        choices.rules = QStringLiteral("kernelbench");
        choices.attempts = attempts;
        choices.atOnce = 2;
        choices.budget.turns = 1;
        view->setChoices(choices);
        return view;
    }

  private slots:
    void initTestCase() {
        QStandardPaths::setTestModeEnabled(true);
        // A record of its own: what other runs found would change what a session tries.
        qputenv("CUDA_AGENT_DATA", folder_.filePath(QStringLiteral("data")).toUtf8());
        QSettings().clear();
        task_ = folder_.filePath(QStringLiteral("small.py"));
        QFile file(task_);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("import torch\n\n\nclass Model(torch.nn.Module):\n"
                   "    def forward(self, x):\n        return torch.relu(x) * 2 + 1\n\n\n"
                   "def get_inputs():\n    return [torch.randn(256, 512)]\n\n\n"
                   "def get_init_inputs():\n    return []\n");
    }
    void init() { ToolPermissions::instance().setAsking({}); }

    void twoAttemptsEndInOneVerdict() {
        MainWindow window;
        window.resize(1280, 800);
        window.show();
        QVERIFY(QTest::qWaitForWindowActive(&window));
        SessionView *view = prepared(window, 2);
        QTest::keyClick(&window, Qt::Key_F5);
        QTRY_VERIFY_WITH_TIMEOUT(view->busy(), patience);
        QVERIFY(view->attemptsPane().isVisible());
        QVERIFY(!view->canRun() && !view->canPause() && view->canStop() && !view->canCheck());
        const auto folder = view->wholeFolder();
        QTRY_VERIFY_WITH_TIMEOUT(
            view->attemptsPane().summary().contains(QStringLiteral("2 at once on")), patience);
        // Both are at work; the panes show the one that is chosen.
        const AttemptsModel &attempts = view->attempts();
        QTRY_VERIFY_WITH_TIMEOUT(
            attempts.log(1).index.size() > 0 && attempts.log(2).index.size() > 0, patience);
        QCOMPARE(view->shownAttempt(), 1);
        view->showAttempt(2);
        QCOMPARE(view->document().folder(), attemptFolder(folder, 2));
        QTRY_VERIFY_WITH_TIMEOUT(!view->busy(), patience);
        QVERIFY2(view->messages().text().isEmpty(), qPrintable(view->messages().text()));

        const Json &outcome = attempts.outcome();
        const int best = winnerOf(outcome);
        QVERIFY(best == 1 || best == 2);
        QCOMPARE(view->shownAttempt(), best);
        QCOMPARE(textOf(partOf(outcome, "verdict"), "strength"), QStringLiteral("full"));
        QVERIFY(partOf(outcome, "comparison").is_object());
        const QString said = view->attemptsPane().summary();
        QVERIFY2(said.contains(QStringLiteral("Attempt %1 is the best").arg(best)) &&
                     said.contains(QStringLiteral("Timed in turns")),
                 qPrintable(said));
        QVERIFY(truthOf(view->document().verdict(), "correct"));
        QCOMPARE(view->status(), QStringLiteral("Ended: attempt %1 is the best").arg(best));
        // What is shown is what lies there.
        const auto stored = loadAttempts(folder);
        QVERIFY(stored.has_value());
        QVERIFY(stored->outcome == outcome);
        QVERIFY(std::filesystem::exists(folder / "best" / "plan.json"));
        for (int attempt : {1, 2}) {
            const auto contents = logOf(folder, attempt);
            QVERIFY(contents.problem.empty());
            QCOMPARE(contents.events.size(), attempts.log(attempt).index.size());
            const Json &start = contents.events.front().data;
            QCOMPARE(textOf(start, "rules"), QStringLiteral("kernelbench"));
            QCOMPARE(numberOf(partOf(start, "attempt"), "of"), 2.0);
        }

        // The engineer goes on from the winner: a check is a turn of that session.
        QVERIFY(view->canCheck());
        const std::size_t events = view->document().index().size();
        view->check(false);
        QTRY_COMPARE_WITH_TIMEOUT(view->runner().state(), State::paused, patience);
        QTRY_VERIFY_WITH_TIMEOUT(
            view->document().index().turnCount(view->document().index().size()) == 2, patience);
        QTRY_VERIFY_WITH_TIMEOUT(truthOf(view->document().verdictOf(2), "correct"), patience);
        QVERIFY(view->document().index().size() > events);
        const int other = 3 - best;
        view->showAttempt(other); // not while one is being worked on
        QCOMPARE(view->shownAttempt(), best);
        QElapsedTimer closing;
        closing.start();
        window.close();
        QVERIFY2(closing.elapsed() < 2000, qPrintable(QString::number(closing.elapsed())));
        QVERIFY(logOf(folder, best).problem.empty());
    }

    void aStopKeepsTheLogsAndRunGoesOn() {
        std::filesystem::path folder;
        {
            MainWindow window;
            window.show();
            QVERIFY(QTest::qWaitForWindowActive(&window));
            SessionView *view = prepared(window, 3);
            view->run();
            const AttemptsModel &attempts = view->attempts();
            QTRY_VERIFY_WITH_TIMEOUT(attempts.count() == 3 && attempts.log(1).index.size() > 0,
                                     patience);
            folder = view->wholeFolder();
            QTest::qWait(1500); // Python is at work
            QElapsedTimer stopping;
            stopping.start();
            window.findChild<QAction *>(QStringLiteral("session.stop"))->trigger();
            QTRY_VERIFY_WITH_TIMEOUT(!view->busy(), patience);
            QVERIFY2(stopping.elapsed() < 6000, qPrintable(QString::number(stopping.elapsed())));
            QVERIFY2(view->messages().text().isEmpty(), qPrintable(view->messages().text()));
            QVERIFY(!std::filesystem::exists(folder / "attempts.json"));
            QVERIFY(view->begun() && view->canRun());
            QCOMPARE(view->status(), QStringLiteral("Interrupted; Run resumes it"));
            const auto contents = logOf(folder, 1);
            QVERIFY(contents.problem.empty());
            QCOMPARE(contents.events.back().type, session::EventType::sessionEnded);
            QVERIFY(!truthOf(contents.events.back().data, "complete"));
        }
        // Another window takes them up; closing it in the middle loses nothing either.
        MainWindow window;
        window.show();
        QVERIFY(QTest::qWaitForWindowActive(&window));
        QVERIFY(window.open(QString::fromStdString(folder.string())));
        SessionView *view = window.current();
        QTRY_VERIFY(!view->loading());
        QCOMPARE(view->attempts().count(), 3);
        QCOMPARE(view->choices().rules, QStringLiteral("kernelbench"));
        const std::size_t before = view->attempts().log(1).index.size();
        view->run();
        QTRY_VERIFY_WITH_TIMEOUT(view->attempts().log(1).index.size() > before, patience);
        QVERIFY(view->busy());
        QElapsedTimer closing;
        closing.start();
        window.close();
        QVERIFY2(closing.elapsed() < 6000, qPrintable(QString::number(closing.elapsed())));
        const auto contents = logOf(folder, 1);
        QVERIFY(contents.problem.empty() && contents.events.size() > before);
        QCOMPARE(contents.events.back().type, session::EventType::sessionEnded);
    }

    void whatCannotBeginIsSaidAndChosenAnew() {
        MainWindow window;
        window.show();
        QVERIFY(QTest::qWaitForWindowActive(&window));
        qputenv("CUDA_AGENT_CACHE", folder_.filePath(QStringLiteral("cache")).toUtf8());
        QVERIFY(device::quarantine("cpu0", "a kernel never ended"));
        SessionView *view = prepared(window, 2);
        view->run();
        QTRY_VERIFY_WITH_TIMEOUT(!view->messages().text().isEmpty(), patience);
        QVERIFY2(view->messages().text().contains(QStringLiteral("cpu0 is in quarantine")),
                 qPrintable(view->messages().text()));
        QVERIFY(!view->begun() && view->canRun() && !view->attemptsPane().isVisible());
        qunsetenv("CUDA_AGENT_CACHE");

        // Nobody is there to ask for every one of several.
        ToolPermissions::instance().setAsking({"Bash"});
        qputenv("CUDA_AGENT_API_KEY", "none");
        qputenv("CUDA_AGENT_ENDPOINT_CONFIG", folder_.filePath(QStringLiteral("e.toml")).toUtf8());
        QFile config(folder_.filePath(QStringLiteral("e.toml")));
        QVERIFY(config.open(QIODevice::WriteOnly));
        config.write("base_url = \"http://127.0.0.1:9/v1\"\nmodel = \"none\"\n");
        config.close();
        Choices choices = view->choices();
        choices.policy = QStringLiteral("endpoint");
        view->setChoices(choices);
        view->run();
        QTRY_VERIFY_WITH_TIMEOUT(
            view->messages().text().contains(QStringLiteral("these tools ask first: Bash")),
            patience);
        QVERIFY(!view->begun() && !view->busy());
    }
};

QTEST_MAIN(AttemptsFlowTest)
#include "attempts_flow_test.moc"
