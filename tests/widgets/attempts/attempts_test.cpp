// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agent/best_of.h"
#include "core/session/log.h"
#include "widgets/attempts/attempts_dialog.h"
#include "widgets/attempts/attempts_model.h"
#include "widgets/attempts/attempts_pane.h"
#include "widgets/base/text.h"
#include "widgets/shell/main_window.h"
#include "widgets/shell/message_bar.h"
#include "widgets/shell/session_view.h"

#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QDockWidget>
#include <QMessageBox>
#include <QSpinBox>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>
#include <QTreeView>

using namespace cuda_agent;
using namespace cuda_agent::widgets;
using session::EventType;

/// Attempts that lie on the disk, and how they are asked for. No engine runs here.
class AttemptsTest : public QObject {
    Q_OBJECT
  private:
    QTemporaryDir folder_;

    std::filesystem::path path(const char *name) const {
        return folder_.filePath(QLatin1String(name)).toStdString();
    }
    static session::Event event(std::int64_t sequence, EventType type, int turn, Json data) {
        session::Event made;
        made.sequence = sequence;
        made.type = type;
        made.turn = turn;
        made.data = std::move(data);
        return made;
    }
    static Json start(int attempt, int of) {
        return {{"task", {{"name", "softmax"}, {"file", "/tasks/softmax.py"}}},
                {"policy", "planner"},
                {"numerics", "tf32"},
                {"rules", "kernelbench"},
                {"device", {{"kind", "cpu"}}},
                {"attempt", {{"number", attempt}, {"of", of}}}};
    }
    static Json verdict(double seconds, double against) {
        return {{"verdict",
                 {{"correct", true},
                  {"compiled", true},
                  {"reward", 3},
                  {"strength", "training"},
                  {"times", {{"candidate", {{"seconds", seconds}}}}},
                  {"speedup", {{"eager", against}, {"compile", against / 2}}}}},
                {"candidate", {{"kernels/a.cu", std::to_string(seconds)}}}};
    }
    static std::vector<session::Event> whole(int attempt, int of, double seconds) {
        return {event(0, EventType::sessionStarted, 0, start(attempt, of)),
                event(1, EventType::turnStarted, 1, Json::object()),
                event(2, EventType::verdictGiven, 1, verdict(seconds, 2e-3 / seconds)),
                event(3, EventType::turnEnded, 1, Json::object()),
                event(4, EventType::sessionEnded, 0,
                      {{"reason", "every schedule has been tried"}, {"complete", true}})};
    }
    /// A log of an attempt with the first `count` of these events.
    static session::Log write(const std::filesystem::path &folder, int attempt, int of,
                              std::size_t count = 5) {
        auto log = session::Log::create(attemptFolder(folder, attempt)).value();
        const auto events = whole(attempt, of, 1e-3 / attempt);
        for (std::size_t i = 0; i < count; ++i)
            if (!log.append(events[i].type, events[i].turn, events[i].data))
                qFatal("cannot write a log");
        return log;
    }
    static Json outcome() {
        return {{"best_attempt", 2},
                {"attempts", Json::array({{{"number", 1}, {"turns", 1}, {"correct", true}},
                                          {{"number", 2}, {"turns", 1}, {"correct", true}},
                                          {{"number", 3},
                                           {"correct", false},
                                           {"error", {{"message", "no space is left"}}}}})},
                {"comparison",
                 {{"a", 2},
                  {"b", 1},
                  {"difference", {{"relative", -0.5}, {"low", -0.52}, {"high", -0.47}}}}},
                {"verdict",
                 {{"times", {{"candidate", {{"seconds", 5e-4}}}}},
                  {"speedup", {{"eager", 4.0}, {"compile", 2.0}}}}}};
    }
    static QString cell(const AttemptsModel &model, int attempt, int column) {
        return model.index(attempt - 1, column).data().toString();
    }
    QString task() {
        QFile file(folder_.filePath(QStringLiteral("task.py")));
        if (file.open(QIODevice::WriteOnly))
            file.write("import torch\n");
        return file.fileName();
    }

  private slots:
    void initTestCase() { QStandardPaths::setTestModeEnabled(true); }
    void init() { QSettings().clear(); }

    void modelHoldsItsContract() {
        AttemptsModel model;
        const QAbstractItemModelTester tester(
            &model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        model.clear("/x", 3);
        QCOMPARE(cell(model, 1, AttemptsModel::StateColumn), QStringLiteral("Not begun"));
        model.setRunning(true);
        QCOMPARE(cell(model, 3, AttemptsModel::StateColumn), QStringLiteral("Waiting"));
        model.setDoing(1, QStringLiteral("loading the task"));
        QCOMPARE(cell(model, 1, AttemptsModel::StateColumn), QStringLiteral("Running"));
        QCOMPARE(cell(model, 1, AttemptsModel::NoteColumn), QStringLiteral("loading the task"));
        const auto events = whole(1, 3, 1e-3);
        model.append(1, {events.begin(), events.begin() + 3});
        model.append(1, events); // what is there does not come twice
        QCOMPARE(model.log(1).index.size(), events.size());
        QCOMPARE(cell(model, 1, AttemptsModel::StateColumn), QStringLiteral("Ended"));
        QCOMPARE(cell(model, 1, AttemptsModel::TurnsColumn), QStringLiteral("1"));
        QCOMPARE(cell(model, 1, AttemptsModel::TimeColumn), timeText(1e-3));
        QVERIFY(cell(model, 1, AttemptsModel::EagerColumn).startsWith(QStringLiteral("2.00")));
        QVERIFY(cell(model, 1, AttemptsModel::CompileColumn).startsWith(QStringLiteral("1.00")));
        QCOMPARE(cell(model, 1, AttemptsModel::RewardColumn), QStringLiteral("3"));
        QCOMPARE(cell(model, 1, AttemptsModel::NoteColumn),
                 QStringLiteral("every schedule has been tried"));
        model.setDoing(1, QStringLiteral("has ended before"));
        QCOMPARE(cell(model, 1, AttemptsModel::StateColumn), QStringLiteral("Ended"));
        model.append(9, events); // nobody
        model.append(0, events);
        model.setDoing(-1, QStringLiteral("x"));
        QCOMPARE(model.over(), 1);
        const auto second = whole(2, 3, 5e-4);
        model.append(2, {second.begin(), second.begin() + 2});
        QCOMPARE(cell(model, 2, AttemptsModel::StateColumn), QStringLiteral("Running"));
        model.setRunning(false); // stopped
        QCOMPARE(cell(model, 2, AttemptsModel::StateColumn), QStringLiteral("Stopped"));
        model.setOutcome(outcome());
        QCOMPARE(cell(model, 2, AttemptsModel::StateColumn), QStringLiteral("Best"));
        QVERIFY(model.index(1, 0).data(Qt::FontRole).value<QFont>().bold());
        QCOMPARE(cell(model, 3, AttemptsModel::StateColumn), QStringLiteral("Failed"));
        QCOMPARE(cell(model, 3, AttemptsModel::NoteColumn), QStringLiteral("no space is left"));
        QCOMPARE(model.over(), 3);
    }

    void outcomesInWords() {
        QCOMPARE(outcomeText(Json()), QString());
        const QString said = outcomeText(outcome());
        for (const char *part : {"Attempt 2 is the best", "torch.compile",
                                 "attempt 2 against attempt 1", "-50.00 % [-52.00 % … -47.00 %]"})
            QVERIFY2(said.contains(QString::fromUtf8(part)), qPrintable(said));
        Json same = outcome();
        same["comparison"]["difference"] = {{"relative", 0.01}, {"low", -0.02}, {"high", 0.03}};
        QVERIFY(outcomeText(same).contains(QStringLiteral("less than can be told: +1.00 %")));
        QVERIFY(outcomeText({{"best_attempt", 0}}).contains(QStringLiteral("No attempt")));
        QCOMPARE(winnerOf({{"best_attempt", -1e300}}), 0);
        QCOMPARE(winnerOf({{"best_attempt", 1e300}}), agent::mostAttempts);
        QCOMPARE(winnerOf({{"best_attempt", "two"}}), 0);
        outcomeText({{"best_attempt", 1}, {"comparison", {{"a", "x"}, {"difference", 3}}}});
    }

    void foldersAreReadAndBadOnesSaid() {
        const auto folder = path("read");
        write(folder, 1, 3);
        write(folder, 2, 3, 2);
        QVERIFY(holdsAttempts(folder));
        QVERIFY(!holdsAttempts(path("nothing")));
        auto loaded = loadAttempts(folder);
        QVERIFY2(loaded.has_value(), loaded ? "" : loaded.error().message.c_str());
        QCOMPARE(loaded->attempts.size(), std::size_t{3}); // the third has not begun
        QCOMPARE(loaded->attempts[1].index.size(), std::size_t{2});
        QVERIFY(loaded->outcome.is_null());
        QVERIFY(writeFileAtomically(folder / "attempts.json", outcome().dump()));
        QCOMPARE(winnerOf(loadAttempts(folder)->outcome), 2);
        for (const char *text : {"", "rubbish", "[]", "[[[[[[[[[[[[[[[[[[[["}) {
            QVERIFY(writeFileAtomically(folder / "attempts.json", text));
            const auto bad = loadAttempts(folder);
            QVERIFY2(!bad, text);
            QVERIFY(bad.error().message.find("attempts.json") != std::string::npos);
        }
        QVERIFY(writeFileAtomically(path("empty") / "attempts.json", "{\"attempts\": 5}"));
        QVERIFY(!loadAttempts(path("empty")));
        QVERIFY(!loadAttempts(path("nothing")));
    }

    void aFolderOfAttemptsOpensInOneTab() {
        const auto folder = path("opened");
        write(folder, 1, 3);
        write(folder, 2, 3);
        QVERIFY(writeFileAtomically(folder / "attempts.json", outcome().dump()));
        MainWindow window;
        window.resize(1280, 800);
        window.show();
        QVERIFY(QTest::qWaitForWindowExposed(&window));
        QVERIFY(window.open(QString::fromStdString(folder.string())));
        QVERIFY(window.open(QString::fromStdString(folder.string())));
        QCOMPARE(window.sessions(), 1);
        SessionView *view = window.current();
        QTRY_VERIFY(!view->loading());
        QVERIFY(view->attemptsPane().isVisible());
        QCOMPARE(view->shownAttempt(), 2); // the best
        QCOMPARE(view->document().folder(), folder / "attempt-2");
        QCOMPARE(view->wholeFolder(), folder);
        QCOMPARE(view->title(), QStringLiteral("softmax, attempt 2"));
        QCOMPARE(view->status(), QStringLiteral("Ended: attempt 2 is the best"));
        QCOMPARE(view->choices().rules, QStringLiteral("kernelbench"));
        QCOMPARE(view->choices().numerics, QStringLiteral("tf32"));
        QCOMPARE(view->choices().attempts, 3);
        QVERIFY(view->attemptsPane().summary().contains(QStringLiteral("Attempt 2 is the best")));
        // Another row is another session in all panes.
        auto *table = view->attemptsPane().findChild<QTreeView *>();
        table->setCurrentIndex(table->model()->index(0, 0));
        QCOMPARE(view->shownAttempt(), 1);
        QCOMPARE(view->document().folder(), folder / "attempt-1");
        QCOMPARE(view->document().index().state().bestSeconds, 1e-3);
        QVERIFY(view->canRun() && !view->canStep());
        // A session of its own beside it has no such pane.
        QVERIFY(window.open(QString::fromStdString((folder / "attempt-1").string())));
        QCOMPARE(window.sessions(), 2);
        QTRY_VERIFY(!window.current()->loading());
        QVERIFY(!window.current()->attemptsPane().isVisible());
        for (const QDockWidget *dock : window.current()->docks())
            QVERIFY(dock->objectName() != QLatin1String("dock.attempts"));
    }

    void attemptsThatAnotherProgramMakesAreFollowed() {
        const auto folder = path("growing");
        auto log = write(folder, 1, 2, 2);
        MainWindow window;
        window.show();
        QVERIFY(QTest::qWaitForWindowExposed(&window));
        QVERIFY(window.open(QString::fromStdString(folder.string())));
        SessionView *view = window.current();
        QTRY_VERIFY(!view->loading());
        QCOMPARE(view->status(), QStringLiteral("Interrupted; Run resumes it"));
        const auto events = whole(1, 2, 1e-3);
        for (std::size_t i = 2; i < events.size(); ++i)
            QVERIFY(log.append(events[i].type, events[i].turn, events[i].data));
        QTRY_COMPARE_WITH_TIMEOUT(view->document().index().size(), events.size(), 10'000);
        write(folder, 2, 2); // begins only now
        QTRY_COMPARE_WITH_TIMEOUT(view->attempts().log(2).index.size(), events.size(), 10'000);
        QVERIFY(writeFileAtomically(folder / "attempts.json", outcome().dump()));
        QTRY_COMPARE_WITH_TIMEOUT(view->status(), QStringLiteral("Ended: attempt 2 is the best"),
                                  10'000);
    }

    void aFolderThatIsDamagedIsSaid() {
        const auto folder = path("damaged");
        QVERIFY(writeFileAtomically(folder / "attempts.json", "rubbish"));
        MainWindow window;
        window.show();
        QVERIFY(QTest::qWaitForWindowExposed(&window));
        QVERIFY(window.open(QString::fromStdString(folder.string())));
        SessionView *view = window.current();
        QTRY_VERIFY(!view->loading());
        QVERIFY2(view->messages().text().contains(QStringLiteral("attempts.json")),
                 qPrintable(view->messages().text()));
    }

    void rulesAndAttemptsAreChosenAndRemembered() {
        MainWindow window;
        window.show();
        QVERIFY(QTest::qWaitForWindowExposed(&window));
        SessionView *view = window.openTask(task());
        QCOMPARE(view->choices().rules, QStringLiteral("published"));
        QCOMPARE(view->choices().attempts, 1);
        QVERIFY(view->canStep());
        const auto action = [&](const char *name) {
            return window.findChild<QAction *>(QLatin1String(name));
        };
        QVERIFY(action("session.rules.published")->isChecked());
        action("session.rules.kernelbench")->trigger();
        QCOMPARE(view->choices().rules, QStringLiteral("kernelbench"));
        action("session.maxAutotune")->trigger();
        QVERIFY(view->choices().maxAutotune);
        auto *spin = window.findChild<QSpinBox *>(QStringLiteral("toolbar.attempts"));
        QCOMPARE(spin->text(), QStringLiteral("1 attempt"));
        spin->setValue(4);
        QCOMPARE(spin->text(), QStringLiteral("4 attempts"));
        QCOMPARE(view->choices().attempts, 4);
        QVERIFY(view->canRun() && !view->canStep()); // there is no one turn of four
        action("session.attempts")->trigger();
        auto *dialog = window.findChild<AttemptsDialog *>();
        QVERIFY(dialog && dialog->attempts() == 4 && dialog->atOnce() == 0);
        auto *atOnce = dialog->findChild<QSpinBox *>(QStringLiteral("attempts.atOnce"));
        QCOMPARE(atOnce->text(), QStringLiteral("as many as fit"));
        atOnce->setValue(2);
        dialog->findChild<QSpinBox *>(QStringLiteral("attempts.count"))->setValue(3);
        dialog->accept();
        QCOMPARE(view->choices().attempts, 3);
        QCOMPARE(view->choices().atOnce, 2);
        QCOMPARE(spin->value(), 3);
        const Choices next = window.openTask(task())->choices();
        QCOMPARE(next.rules, QStringLiteral("kernelbench"));
        QCOMPARE(next.attempts, 3);
        QCOMPARE(next.atOnce, 2);
        // Settings that somebody spoilt are none.
        QSettings().setValue(QStringLiteral("choices/rules"), QStringLiteral("mine"));
        QSettings().setValue(QStringLiteral("choices/attempts"), QStringLiteral("1e300"));
        const Choices spoilt = window.openTask(task())->choices();
        QCOMPARE(spoilt.rules, QStringLiteral("published"));
        QCOMPARE(spoilt.attempts, agent::mostAttempts);
    }

    void aReplayIsNotAttemptedTwice() {
        MainWindow window;
        window.show();
        QVERIFY(QTest::qWaitForWindowExposed(&window));
        SessionView *view = window.openTask(task());
        Choices choices = view->choices();
        choices.device = QStringLiteral("cpu");
        choices.policy = QStringLiteral("replay");
        choices.recorded = folder_.path();
        choices.attempts = 2;
        view->setChoices(choices);
        view->run();
        QTRY_VERIFY(view->messages().text().contains(QStringLiteral("another policy")));
        QTRY_VERIFY(!view->busy());
        QVERIFY(!view->begun() && view->canRun()); // with other choices
        QVERIFY(!view->attemptsPane().isVisible());
        QCOMPARE(view->shownAttempt(), 0);
    }
};

QTEST_MAIN(AttemptsTest)
#include "attempts_test.moc"
