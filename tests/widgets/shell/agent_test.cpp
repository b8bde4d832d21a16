// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/log.h"
#include "tests/widgets/chat_process.h"
#include "widgets/base/text.h"
#include "widgets/base/theme.h"
#include "widgets/budget/budget_strip.h"
#include "widgets/budget/gauge.h"
#include "widgets/code/code_editor.h"
#include "widgets/endpoint/endpoint_dialog.h"
#include "widgets/shell/main_window.h"
#include "widgets/shell/session_view.h"
#include "widgets/skills/skills_dialog.h"
#include "widgets/timeline/replay.h"
#include "widgets/timeline/timeline_bar.h"
#include "widgets/tools/approval_bar.h"
#include "widgets/tools/permissions_model.h"
#include "widgets/trace/message_line.h"
#include "widgets/trace/trace_pane.h"

#include <QComboBox>
#include <QDirIterator>
#include <QElapsedTimer>
#include <QFileDialog>
#include <QLineEdit>
#include <QMessageBox>
#include <QPlainTextEdit>
#include <QSpinBox>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

using namespace cuda_agent;
using namespace cuda_agent::widgets;
using session::EventType;
using State = SessionRunner::State;

namespace {

constexpr const char *secret = "sk-secret-of-this-flow";
constexpr int patience = 150'000; // milliseconds on a busy machine

constexpr const char *kernel = R"(// Usage: relu_twice<<<blocks, 256>>>(x, out, n)
// Version 1: one thread an element, as a first correct candidate.
extern "C" __global__ void relu_twice(const float *x, float *out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = (x[i] < 0 ? 0.0f : x[i]) * 2; // NaN stays NaN
}
)";
constexpr const char *plan = R"plan({"version": 1, "name": "relu, twice",
 "symbols": {"N": "x.numel"},
 "buffers": [{"name": "x", "role": "input", "index": 0, "dtype": "float32"},
  {"name": "out0", "role": "output", "index": 0, "dtype": "float32",
   "shape": ["x.shape[0]", "x.shape[1]"]}],
 "steps": [{"kind": "kernel", "source": "kernels/relu.cu", "entry": "relu_twice",
  "grid": ["cdiv(N, 256)"], "block": [256],
  "args": [{"buffer": "x"}, {"buffer": "out0"}, {"int32": "N"}]}]})plan";

/// What the scripted model does: reads, tries a shell, writes a candidate and verifies it.
QByteArray script() {
    const Json turns = Json::array(
        {{{"text", "I read the task first."},
          {"calls", Json::array({Json::array({"Read", {{"file_path", "model.py"}}})})}},
         {{"text", "I look around."},
          {"calls", Json::array({Json::array({"Bash", {{"command", "touch was-here.txt"}}}),
                                 Json::array({"Bash", {{"command", "echo two"}}})})}},
         {{"text", "A candidate."},
          {"calls",
           Json::array(
               {Json::array({"Write", {{"file_path", "kernels/relu.cu"}, {"content", kernel}}}),
                Json::array({"Write", {{"file_path", "plan.json"}, {"content", plan}}}),
                Json::array({"Verify", {{"strength", "full"}}})})}}});
    return QByteArray::fromStdString(turns.dump());
}

} // namespace

/// An engineer and a language model: the engine, the sandbox and the endpoint are real, the model
/// is a script.
class AgentTest : public QObject {
    Q_OBJECT
  private:
    QTemporaryDir folder_;
    QString task_;

    void write(const QString &name, const QByteArray &text) {
        QFile file(folder_.filePath(name));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(text);
    }
    void configure(const ChatProcess &server, const char *model) {
        policy::EndpointConfig config;
        config.baseUrl = server.url().toStdString();
        config.model = model;
        config.promptPrice = 10;
        QVERIFY(EndpointSettings::instance().write(config));
        EndpointSettings::instance().keepKey(config.baseUrl, secret, this, [](const FoundKey &) {});
    }
    static SessionView *withModel(MainWindow &window, const QString &task, int turns = 20) {
        SessionView *view = window.openTask(task);
        Choices choices = view->choices();
        choices.policy = QStringLiteral("endpoint");
        choices.device = QStringLiteral("cpu");
        choices.budget = {turns, 3000, 1'000'000, 50};
        view->setChoices(choices);
        return view;
    }
    static void picture(QWidget &window, const char *name) {
        const QString pictures = qEnvironmentVariable("CUDA_AGENT_SCREENSHOTS");
        if (pictures.isEmpty())
            return;
        for (const bool dark : {true, false}) {
            Theme::instance().setScheme(dark ? Theme::Scheme::dark : Theme::Scheme::light);
            QTest::qWait(100);
            window.grab().save(pictures +
                               QStringLiteral("/%1-%2.png")
                                   .arg(QLatin1String(name),
                                        dark ? QStringLiteral("dark") : QStringLiteral("light")));
        }
    }

  private slots:
    void initTestCase() {
        QStandardPaths::setTestModeEnabled(true);
        // A record of its own: what other runs found would change what a session tries.
        qputenv("CUDA_AGENT_DATA", folder_.filePath(QStringLiteral("data")).toUtf8());
        qputenv("CUDA_AGENT_ENDPOINT_CONFIG", folder_.filePath(QStringLiteral("e.toml")).toUtf8());
        for (const char *name : {"CUDA_AGENT_API_KEY", "OPENAI_API_KEY"})
            qunsetenv(name);
        task_ = folder_.filePath(QStringLiteral("relu_twice.py"));
        write(QStringLiteral("relu_twice.py"),
              "import torch\n\n\nclass Model(torch.nn.Module):\n"
              "    def forward(self, x):\n        return torch.relu(x) * 2\n\n\n"
              "def get_inputs():\n    return [torch.randn(64, 500)]\n\n\n"
              "def get_init_inputs():\n    return []\n");
        write(QStringLiteral("script.json"), script());
    }
    void init() {
        QSettings().clear();
        QFile::remove(folder_.filePath(QStringLiteral("e.toml")));
        EndpointSettings::instance().setStore(nullptr);
    }

    void choosingWithoutAConfigurationOpensTheSettings() {
        MainWindow window;
        window.show();
        QVERIFY(QTest::qWaitForWindowActive(&window));
        SessionView *view = window.openTask(task_);
        auto *policy = window.findChild<QComboBox *>(QStringLiteral("toolbar.policy"));
        QStringList offered;
        for (int i = 0; i < policy->count(); ++i)
            offered += policy->itemData(i).toString();
        QCOMPARE(offered, (QStringList{QStringLiteral("planner"), QStringLiteral("endpoint"),
                                       QStringLiteral("transformer"), QStringLiteral("replay")}));
        QCOMPARE(view->choices().budget.turns, 20);
        QVERIFY(!view->trace().message().isVisible());
        policy->setCurrentIndex(1);
        QTRY_VERIFY(window.findChild<EndpointDialog *>());
        QCOMPARE(view->choices().policy, QStringLiteral("endpoint"));
        QCOMPARE(view->choices().budget.turns, 200); // language models take more
        window.findChild<EndpointDialog *>()->reject();
        QTRY_VERIFY(!window.findChild<EndpointDialog *>());
        view->run(); // says what is missing, and asks for it again
        QTRY_VERIFY(window.findChild<EndpointDialog *>());
        QVERIFY(!view->begun());
        window.findChild<EndpointDialog *>()->reject();
        // A trained model's context holds few turns.
        policy->setCurrentIndex(2);
        QCOMPARE(view->choices().policy, QStringLiteral("transformer"));
        QCOMPARE(view->choices().budget.turns, 20);
        QVERIFY(!view->trace().message().isVisible());
        // A replay needs to know what it follows.
        policy->setCurrentIndex(3);
        QTRY_VERIFY(window.findChild<QFileDialog *>(QStringLiteral("askRecorded")));
        window.findChild<QFileDialog *>(QStringLiteral("askRecorded"))->reject();
        view->run();
        QVERIFY(!view->begun());
        window.findChild<QAction *>(QStringLiteral("session.budget"))->trigger();
        auto *dialog = window.findChild<QDialog *>(QStringLiteral("budgetDialog"));
        QVERIFY(dialog);
        dialog->findChild<QSpinBox *>(QStringLiteral("budget.seconds"))->setValue(90);
        dialog->accept();
        QCOMPARE(view->choices().budget.seconds, 90.0);
        QVERIFY(view->budget().time().value().endsWith(QStringLiteral("1:30")));
        QCOMPARE(window.openTask(task_)->choices().budget.seconds, 90.0); // the next one's too
        for (const char *name :
             {"session.endpoint", "session.budget", "session.tools", "session.skills"})
            QVERIFY2(window.findChild<QAction *>(QLatin1String(name)), name);
        auto *memory = window.findChild<QAction *>(QStringLiteral("session.memory"));
        QVERIFY(memory && memory->isChecked());
        const auto remembered = [] {
            return QSettings().value(QStringLiteral("choices/memory")).toBool();
        };
        memory->trigger();
        QVERIFY(!remembered());
        memory->trigger();
        QVERIFY(remembered());
    }

    void closingTheWindowSavesWhatWasTypedIntoASkill() {
        qputenv("XDG_CONFIG_HOME", folder_.filePath(QStringLiteral("config")).toUtf8());
        {
            MainWindow window;
            window.show();
            QVERIFY(QTest::qWaitForWindowActive(&window));
            window.findChild<QAction *>(QStringLiteral("session.skills"))->trigger();
            auto *dialog = window.findChild<SkillsDialog *>();
            QVERIFY(dialog && dialog->isVisible());
            QVERIFY(dialog->createSkill(QStringLiteral("typed-late")));
            dialog->editor()->append(QStringLiteral("the last word\n"));
            QVERIFY(dialog->unsaved());
            window.close();
        }
        QFile file(
            folder_.filePath(QStringLiteral("config/cuda-agent/skills/typed-late/SKILL.md")));
        QVERIFY(file.open(QIODevice::ReadOnly));
        QVERIFY(file.readAll().contains("the last word"));
        qunsetenv("XDG_CONFIG_HOME");
    }

    void aMessageARefusalAndTheGauges() {
        ChatProcess server(folder_.filePath(QStringLiteral("script.json")));
        QVERIFY(server.started());
        configure(server, "script");
        ToolPermissions::instance().setAsking({"Bash"});
        MainWindow window;
        window.resize(1280, 800);
        window.show();
        QVERIFY(QTest::qWaitForWindowActive(&window));
        SessionView *view = withModel(window, task_);
        SessionDocument &document = view->document();
        MessageLine &line = view->trace().message();
        QVERIFY(line.isVisible() && !line.reads());
        QCOMPARE(view->budget().turns().value(), QStringLiteral("0 of 20"));
        QTest::keyClick(&window, Qt::Key_F10); // the model's first turn
        QTRY_COMPARE_WITH_TIMEOUT(view->runner().state(), State::paused, patience);
        QCOMPARE(view->budget().turns().value(), QStringLiteral("1 of 20"));
        const BudgetFigures first = view->budget().figures();
        QVERIFY(first.tokens() > 100 && first.usage.cost > 0);
        QCOMPARE(first.limits.tokens, std::int64_t{1'000'000});

        // The engineer writes, between turns.
        QVERIFY(line.reads());
        view->trace().findChild<QAction *>(QStringLiteral("trace.message"))->trigger();
        auto *edit = line.findChild<QPlainTextEdit *>();
        QTRY_VERIFY(edit->hasFocus());
        QTest::keyClicks(edit, QStringLiteral("Mind the NaN."));
        QTest::keyClick(edit, Qt::Key_Return);
        QTRY_VERIFY_WITH_TIMEOUT(document.index().turn(2, document.cursor()) &&
                                     document.index().turn(2, document.cursor())->ended,
                                 patience);
        QVERIFY(document.index().turn(2, document.cursor())->engineer);
        QCOMPARE(document.index().state().turns.at(1).thought, std::string("Mind the NaN."));
        QTRY_COMPARE(view->runner().state(), State::paused);

        // The next turn wants a shell: the first call is refused, the second allowed with all.
        QTest::keyClick(&window, Qt::Key_F5);
        QTRY_VERIFY_WITH_TIMEOUT(view->approval().isVisible(), patience);
        QVERIFY(view->approval().shownArguments().contains(QStringLiteral("touch was-here.txt")));
        QCOMPARE(view->status(), QStringLiteral("Waiting for your permission"));
        picture(window, "approval");
        view->approval()
            .findChild<QLineEdit *>(QStringLiteral("approval.reason"))
            ->setText(QStringLiteral("no litter"));
        QTest::keyClick(&window, Qt::Key_N, Qt::ControlModifier | Qt::ShiftModifier);
        QTRY_VERIFY_WITH_TIMEOUT(
            view->runner().waiting() &&
                view->approval().shownArguments().contains(QStringLiteral("echo two")),
            patience);
        view->approval().findChild<QAction *>(QStringLiteral("approval.allowAll"))->trigger();
        QTRY_VERIFY_WITH_TIMEOUT(document.index().state().end.has_value(), patience);
        QVERIFY(!view->approval().isVisible());

        const session::State &state = document.index().state();
        QVERIFY2(state.bestTurn == 4, qPrintable(QString::number(state.bestTurn)));
        const auto &looked = state.turns.at(2).observations;
        QVERIFY(!looked.at(0).ok);
        QVERIFY(looked.at(0).text.find("no litter") != std::string::npos);
        QVERIFY(looked.at(1).ok);
        QVERIFY(!state.files.contains("was-here.txt"));
        const BudgetFigures last = view->budget().figures();
        QVERIFY(last.tokens() > first.tokens());
        QCOMPARE(last.tokens(), state.usage.promptTokens + state.usage.answerTokens);
        QCOMPARE(last.turns, 4); // of five, one is the engineer's
        picture(window, "agent");

        // The model was done; the engineer is not: a message, and it is asked again.
        QTRY_COMPARE(view->runner().state(), State::paused);
        const int answers = state.usage.answers;
        edit->setPlainText(QStringLiteral("Try a wider load."));
        line.send();
        QTRY_VERIFY_WITH_TIMEOUT(state.turns.back().thought == "Try a wider load." &&
                                     state.turns.back().ended,
                                 patience);
        QTRY_COMPARE(view->runner().state(), State::paused);
        QTest::keyClick(&window, Qt::Key_F5);
        QTRY_COMPARE_WITH_TIMEOUT(state.usage.answers, answers + 1, patience);
        QTRY_COMPARE_WITH_TIMEOUT(view->runner().state(), State::paused, patience);
        const std::int64_t tokens = view->budget().figures().tokens();
        QVERIFY(tokens > last.tokens());

        // Looking back: the gauges say what was used up then.
        window.setPerspective(MainWindow::Perspective::replay);
        view->timeline().replay().toTurn(1);
        QCOMPARE(view->budget().figures().turns, 1);
        QVERIFY(view->budget().figures().tokens() <= first.tokens());
        document.toEnd();
        QCOMPARE(view->budget().figures().tokens(), tokens);

        // The model read both messages and the refusal, and the key is in nothing on disk.
        const QByteArray asked = server.requests();
        for (const char *words : {"Mind the NaN.", "Try a wider load.", "no litter"})
            QVERIFY2(asked.contains(words), words);
        const std::filesystem::path session = document.folder();
        window.close();
        QDirIterator files(QString::fromStdString(session.string()), QDir::Files,
                           QDirIterator::Subdirectories);
        int read = 0;
        while (files.hasNext()) {
            QFile file(files.next());
            if (file.open(QIODevice::ReadOnly))
                QVERIFY2(!file.readAll().contains(secret), qPrintable(file.fileName()));
            ++read;
        }
        QVERIFY(read > 3);
        QFile config(folder_.filePath(QStringLiteral("e.toml")));
        QVERIFY(config.open(QIODevice::ReadOnly) && !config.readAll().contains(secret));
    }

    void closingWhileACallWaits() {
        ChatProcess server(folder_.filePath(QStringLiteral("script.json")));
        QVERIFY(server.started());
        configure(server, "script");
        ToolPermissions::instance().setAsking({"Read"});
        auto window = std::make_unique<MainWindow>();
        window->show();
        QVERIFY(QTest::qWaitForWindowActive(window.get()));
        SessionView *view = withModel(*window, task_);
        const std::filesystem::path folder = view->document().folder();
        view->run();
        QTRY_VERIFY_WITH_TIMEOUT(view->approval().isVisible(), patience);
        QElapsedTimer closing;
        closing.start();
        window->close();
        window.reset();
        QVERIFY2(closing.elapsed() < 2000, qPrintable(QString::number(closing.elapsed())));
        const auto contents = session::readLog(folder);
        QVERIFY(contents && contents->problem.empty());
        QCOMPARE(contents->events.back().type, EventType::sessionEnded);
        QVERIFY(!truthOf(contents->events.back().data, "complete"));

        // Taken up again, the call asks again; a stop ends the wait too, and so does a change of
        // the settings.
        MainWindow another;
        another.show();
        QVERIFY(QTest::qWaitForWindowActive(&another));
        SessionView *again = another.openSession(QString::fromStdString(folder.string()));
        QTRY_VERIFY(!again->loading());
        QCOMPARE(again->choices().policy, QStringLiteral("endpoint"));
        QCOMPARE(again->choices().budget.tokens, std::int64_t{1'000'000});
        QTest::keyClick(&another, Qt::Key_F10);
        // The script went on meanwhile: whatever comes first that asks.
        ToolPermissions::instance().setAsking({"Read", "Bash", "Write", "Verify"});
        QTRY_VERIFY_WITH_TIMEOUT(again->approval().isVisible(), patience);
        const std::string waiting = again->runner().waiting()->id;
        ToolPermissions::instance().setAsking({"Verify"});
        QTRY_VERIFY_WITH_TIMEOUT(
            !again->runner().waiting() || again->runner().waiting()->id != waiting, patience);
        again->stop();
        QTRY_COMPARE_WITH_TIMEOUT(again->runner().state(), State::ended, patience);
        QVERIFY(!again->approval().isVisible());
    }

    void aRefusedKeyIsSaid() {
        ChatProcess server;
        QVERIFY(server.started());
        configure(server, "locked");
        MainWindow window;
        window.show();
        QVERIFY(QTest::qWaitForWindowActive(&window));
        SessionView *view = withModel(window, task_, 2);
        QString said;
        connect(&view->runner(), &SessionRunner::failed, this,
                [&](const QString &text) { said = text; });
        view->run();
        QTRY_VERIFY_WITH_TIMEOUT(!said.isEmpty(), patience);
        QVERIFY2(said.contains(QStringLiteral("refuses the key")), qPrintable(said));
        QVERIFY(!said.contains(QLatin1String(secret)));
        QTRY_VERIFY(view->canRun()); // with another key
    }
};

QTEST_MAIN(AgentTest)
#include "agent_test.moc"
