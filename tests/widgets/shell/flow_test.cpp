// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/log.h"
#include "widgets/base/text.h"
#include "widgets/code/code_pane.h"
#include "widgets/plot/plot.h"
#include "widgets/profile/profile_pane.h"
#include "widgets/shell/main_window.h"
#include "widgets/shell/session_view.h"
#include "widgets/timeline/replay.h"
#include "widgets/timeline/timeline_bar.h"

#include <QElapsedTimer>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>
#include <Qsci/qsciscintilla.h>

#include <algorithm>

using namespace cuda_agent;
using namespace cuda_agent::widgets;
using State = SessionRunner::State;

/// What an engineer does, with the real engine on the cpu device.
class FlowTest : public QObject {
    Q_OBJECT
  private:
    QTemporaryDir folder_;
    QString task_;
    static constexpr int patience = 150'000; // milliseconds on a busy machine

  private slots:
    void initTestCase() {
        QStandardPaths::setTestModeEnabled(true);
        // A record of its own: what other runs found would change what a session tries.
        qputenv("CUDA_AGENT_DATA", folder_.filePath(QStringLiteral("data")).toUtf8());
        QSettings().clear();
        QSettings().setValue(QStringLiteral("choices/device"), QStringLiteral("cpu"));
        QSettings().setValue(QStringLiteral("choices/turns"), 2);
        task_ = folder_.filePath(QStringLiteral("small.py"));
        QFile file(task_);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("import torch\n\n\nclass Model(torch.nn.Module):\n"
                   "    def forward(self, x):\n        return torch.relu(x) * 2 + 1\n\n\n"
                   "def get_inputs():\n    return [torch.randn(256, 512)]\n\n\n"
                   "def get_init_inputs():\n    return []\n");
    }

    void stepEditCheckAndGoOn() {
        MainWindow window;
        window.show();
        QVERIFY(QTest::qWaitForWindowActive(&window));
        SessionView *view = window.openTask(task_);
        QVERIFY(view);
        QCOMPARE(view->choices().device, QStringLiteral("cpu"));
        QTest::keyClick(&window, Qt::Key_F10); // one turn, then a pause
        QTRY_VERIFY(view->begun());
        QTRY_COMPARE_WITH_TIMEOUT(view->runner().state(), State::paused, patience);
        SessionDocument &document = view->document();
        QCOMPARE(document.index().turnCount(document.cursor()), 1);
        QVERIFY(truthOf(document.verdict(), "correct"));

        // The engineer spoils the kernel; the check finds out and the log says who it was.
        auto *editor = view->code().findChild<QsciScintilla *>();
        QTRY_VERIFY(editor && !editor->isReadOnly());
        view->code().goTo(QStringLiteral("kernels/planner.cu"), 1, 1);
        for (QsciScintilla *each : view->code().findChildren<QsciScintilla *>())
            if (each->isVisible() && !each->isReadOnly())
                editor = each;
        editor->setFocus();
        QTest::keyClicks(editor, QStringLiteral("#error edited by hand"));
        QTest::keyClick(editor, Qt::Key_Return);
        QTRY_VERIFY(view->code().hasEdits());
        QTest::keyClick(&window, Qt::Key_B, Qt::ControlModifier);
        QTRY_COMPARE_WITH_TIMEOUT(document.index().turnCount(document.cursor()), 2, patience);
        QTRY_VERIFY_WITH_TIMEOUT(document.verdictOf(2).is_object() ||
                                     document.index().turn(2, document.cursor())->ended,
                                 patience);
        const TurnRange *turn = document.index().turn(2, document.cursor());
        QVERIFY(turn && turn->engineer);
        QTRY_VERIFY(document.compiled().is_object());
        QVERIFY(!truthOf(document.compiled(), "ok"));
        QTRY_VERIFY(!view->code().hasEdits());

        // The policy goes on from there to its end.
        QTRY_COMPARE_WITH_TIMEOUT(view->runner().state(), State::paused, patience);
        QTest::keyClick(&window, Qt::Key_F5);
        QTRY_VERIFY_WITH_TIMEOUT(document.index().state().end.has_value(), patience);
        QVERIFY(document.index().state().bestTurn > 0);
        const std::filesystem::path folder = document.folder();
        const std::size_t events = document.index().size();

        // The shown turn's candidate is profiled, an older one too, and nothing else becomes
        // another.
        const auto newest = document.index().files(events);
        const auto isAsBefore = [&] {
            const auto now = document.index().files(document.index().size());
            return std::ranges::all_of(newest, [&](const auto &file) {
                return now.at(file.first).blob == file.second.blob;
            });
        };
        document.toEnd();
        document.selectTurn(1);
        ProfilePane &profiles = view->profilePane();
        QVERIFY(!profiles.profile());
        auto *ask = profiles.findChild<QAction *>(QStringLiteral("profile.run"));
        QTRY_VERIFY(ask && ask->isEnabled());
        ask->trigger();
        QVERIFY(!ask->isEnabled()); // one at a time
        QTRY_VERIFY_WITH_TIMEOUT(profiles.profile(), patience);
        QCOMPARE(document.shownTurn(), 1);
        QVERIFY(profiles.profile()->cpu);
        QVERIFY(!profiles.profile()->launches.empty());
        QVERIFY(profiles.note().contains(QStringLiteral("nothing about a GPU")));
        QTRY_COMPARE_WITH_TIMEOUT(view->runner().state(), State::paused, patience);
        QTRY_VERIFY(isAsBefore());
        document.selectTurn(2); // does not compile: there is no profile, and the pane says so
        QTRY_VERIFY(ask->isEnabled());
        const int turns = document.index().turnCount(document.index().size());
        ask->trigger();
        QTRY_VERIFY_WITH_TIMEOUT(
            ask->isEnabled() && document.index().turnCount(document.index().size()) == turns + 1,
            patience);
        QCOMPARE(document.shownTurn(), 2);
        QVERIFY(!profiles.profile());
        QTRY_VERIFY(isAsBefore());
        // Stop ends one that is under way; what is done next brings the files back first.
        ask->trigger();
        auto *stop = profiles.findChild<QAction *>(QStringLiteral("profile.stop"));
        QTRY_VERIFY(stop->isEnabled());
        stop->trigger();
        QTRY_COMPARE_WITH_TIMEOUT(view->runner().state(), State::ended, patience);
        QTRY_VERIFY(!stop->isEnabled());
        document.selectTurn(0);
        view->check(false);
        QTRY_VERIFY_WITH_TIMEOUT(view->runner().state() == State::paused && view->canCheck(),
                                 patience);
        QVERIFY(isAsBefore());

        // Looking back is replay; what was there then comes back as edits.
        window.setPerspective(MainWindow::Perspective::replay);
        view->timeline().replay().toStart();
        QVERIFY(!document.verdict().is_object() || document.verdict().empty());
        view->timeline().replay().toTurn(1);
        QVERIFY(truthOf(document.verdict(), "correct"));
        document.toEnd();
        document.selectTurn(2); // the broken one
        view->code().findChild<QAction *>(QStringLiteral("code.restoreTurn"))->trigger();
        QTRY_VERIFY(view->code().hasEdits());
        QVERIFY(view->code().edits().at("kernels/planner.cu").find("#error edited by hand") !=
                std::string::npos);
        view->code().discardEdits();

        // Every plot leaves in every form.
        int exported = 0;
        for (Plot *plot : view->findChildren<Plot *>()) {
            if (plot->series().empty())
                continue;
            for (const char *form : {"png", "svg", "pdf", "csv"}) {
                const QString file = folder_.filePath(
                    QStringLiteral("plot%1.%2").arg(exported).arg(QLatin1String(form)));
                QVERIFY2(plot->exportTo(file), form);
                QVERIFY(QFileInfo(file).size() > 30); // a head and a point at least
            }
            ++exported;
        }
        QVERIFY(exported >= 2);

        QElapsedTimer closing;
        closing.start();
        window.close();
        QVERIFY2(closing.elapsed() < 2000, qPrintable(QString::number(closing.elapsed())));
        const auto contents = session::readLog(folder);
        QVERIFY(contents.has_value());
        QVERIFY(contents->problem.empty());
        QVERIFY(contents->events.size() >= events);
    }

    void closingInTheMiddleLosesNothing() {
        MainWindow window;
        window.show();
        QVERIFY(QTest::qWaitForWindowActive(&window));
        SessionView *view = window.openTask(task_);
        std::vector<session::Event> seen;
        QObject::connect(&view->runner(), &SessionRunner::eventsArrived, this,
                         [&](const std::vector<session::Event> &events) {
                             seen.insert(seen.end(), events.begin(), events.end());
                         });
        QTest::keyClick(&window, Qt::Key_F5);
        QTRY_COMPARE_WITH_TIMEOUT(view->runner().state(), State::preparing, patience);
        QTest::qWait(2500); // Python is at work
        const std::filesystem::path folder = view->document().folder();
        QElapsedTimer closing;
        closing.start();
        window.close();
        QVERIFY2(closing.elapsed() < 2000, qPrintable(QString::number(closing.elapsed())));
        const auto contents = session::readLog(folder);
        QVERIFY(contents.has_value());
        QVERIFY(contents->problem.empty());
        QVERIFY(contents->events.size() >= seen.size());
        QCOMPARE(contents->events.back().type, session::EventType::sessionEnded);
        QVERIFY(!truthOf(contents->events.back().data, "complete"));

        // Run takes it up again and brings it to its end.
        MainWindow another;
        another.show();
        QVERIFY(QTest::qWaitForWindowActive(&another));
        SessionView *again = another.openSession(QString::fromStdString(folder.string()));
        QVERIFY(again);
        QTRY_VERIFY(!again->loading());
        QVERIFY(again->canRun());
        QTest::keyClick(&another, Qt::Key_F5);
        const session::State &state = again->document().index().state();
        QTRY_VERIFY_WITH_TIMEOUT(state.end && truthOf(*state.end, "complete"), patience);
        QVERIFY(state.bestTurn > 0);
        QVERIFY(state.knowledge.is_object()); // it was told what the test before this one found
        QVERIFY(!state.knowledge["worked"].empty());
        QVERIFY(again->document().index().size() > contents->events.size());
    }

    void aTaskThatIsNoneIsSaid() {
        const QString bad = folder_.filePath(QStringLiteral("bad.py"));
        QFile file(bad);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("print('no model')\n");
        file.close();
        MainWindow window;
        window.show();
        QVERIFY(QTest::qWaitForWindowActive(&window));
        SessionView *view = window.openTask(bad);
        QSignalSpy failed(&view->runner(), &SessionRunner::failed);
        view->run();
        QTRY_COMPARE_WITH_TIMEOUT(view->runner().state(), State::ended, patience);
        QCOMPARE(failed.size(), 1);
        QVERIFY2(failed[0][0].toString().contains(QStringLiteral("Model")),
                 qPrintable(failed[0][0].toString()));
        QVERIFY(view->canRun());
    }
};

QTEST_MAIN(FlowTest)
#include "flow_test.moc"
