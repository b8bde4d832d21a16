// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/chat/chat.h"
#include "widgets/attempts/attempts_dialog.h"
#include "widgets/base/text.h"
#include "widgets/base/theme.h"
#include "widgets/shell/main_window.h"
#include "widgets/shell/message_bar.h"
#include "widgets/shell/session_view.h"
#include "widgets/transformer/transformer_dialog.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QDir>
#include <QDoubleSpinBox>
#include <QFileDialog>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

using namespace cuda_agent;
using namespace cuda_agent::widgets;

namespace {

constexpr int trained = 2; ///< of the policies in the toolbar

template <typename Kind>
Kind *part(const QWidget &of, const char *name) {
    return of.findChild<Kind *>(QLatin1String(name));
}

} // namespace

/// The settings of the trained model, in the window and alone. No model is loaded.
class TransformerTest : public QObject {
    Q_OBJECT
  private:
    std::unique_ptr<QTemporaryDir> folder_;

    void write(const QString &name, const QByteArray &text) {
        const QString path = folder_->filePath(name);
        QVERIFY(QDir().mkpath(QFileInfo(path).path()));
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(text);
    }
    /// A folder that looks like a model.
    QString model(const QString &name) {
        Json added = Json::array();
        for (const auto special : chat::specialTokens)
            added.push_back({{"content", special}});
        write(name + QStringLiteral("/config.json"), R"({"vocab_size": 1234})");
        write(name + QStringLiteral("/model.safetensors"), QByteArray(2'500'000, 'x'));
        write(name + QStringLiteral("/tokenizer.json"),
              QByteArray::fromStdString(Json{{"added_tokens", std::move(added)}}.dump()));
        return folder_->filePath(name);
    }
    QString task() {
        write(QStringLiteral("task.py"), "import torch\n");
        return folder_->filePath(QStringLiteral("task.py"));
    }
    static void picture(QWidget &window, const char *name) {
        const QString pictures = qEnvironmentVariable("CUDA_AGENT_SCREENSHOTS");
        if (pictures.isEmpty())
            return;
        for (const bool dark : {true, false}) {
            Theme::instance().setScheme(dark ? Theme::Scheme::dark : Theme::Scheme::light);
            QTest::qWait(100);
            window.grab().save(
                pictures + QStringLiteral("/%1-%2.png")
                               .arg(QLatin1String(name), QLatin1String(dark ? "dark" : "light")));
        }
    }
    static QString found(const QWidget &dialog) {
        return part<QLabel>(dialog, "transformer.found")->text();
    }

  private slots:
    void init() {
        QStandardPaths::setTestModeEnabled(true);
        QSettings().clear();
        folder_ = std::make_unique<QTemporaryDir>();
        qputenv("CUDA_AGENT_WEIGHTS", model(QStringLiteral("usual")).toUtf8());
    }
    void cleanup() { qunsetenv("CUDA_AGENT_WEIGHTS"); }

    void theDefaultsAreSaid() {
        TransformerDialog dialog({});
        dialog.show();
        QVERIFY(QTest::qWaitForWindowExposed(&dialog));
        QTRY_VERIFY(!found(dialog).isEmpty());
        for (const QString &words : {QStringLiteral("By default: usual"),
                                     QLocale().toString(1234) + QStringLiteral(" tokens"),
                                     bytesText(2.5e6), folder_->filePath(QStringLiteral("usual"))})
            QVERIFY2(found(dialog).contains(words), qPrintable(found(dialog)));
        QCOMPARE(part<QDoubleSpinBox>(dialog, "transformer.temperature")->text(),
                 QStringLiteral("0, from the second attempt on 1"));
        QCOMPARE(part<QDoubleSpinBox>(dialog, "transformer.topP")->value(), 1.0);
        QCOMPARE(part<QSpinBox>(dialog, "transformer.longestTurn")->value(), 10'500);
        picture(dialog, "transformer");
        const auto config = dialog.config();
        QVERIFY(config.weights.empty() && !config.temperature && !config.topP &&
                !config.longestTurn);
        // A temperature of 0 is not the same as none.
        part<QDoubleSpinBox>(dialog, "transformer.temperature")->setValue(0);
        QVERIFY(dialog.config().temperature == 0.0);
    }

    void whatIsGivenComesBack() {
        agent::TransformerConfig given;
        given.weights = model(QStringLiteral("mine/step-7/actor")).toStdString();
        given.temperature = 0.7;
        given.topP = 0.9;
        given.longestTurn = 512;
        TransformerDialog dialog(given);
        QTRY_VERIFY(found(dialog).startsWith(QStringLiteral("step-7, ")));
        auto config = dialog.config();
        QCOMPARE(config.weights, given.weights);
        QCOMPARE(config.temperature.value_or(-1), 0.7);
        QCOMPARE(config.topP.value_or(-1), 0.9);
        QVERIFY(config.longestTurn == 512);
        part<QDialogButtonBox>(dialog, "transformer.buttons")
            ->button(QDialogButtonBox::RestoreDefaults)
            ->click();
        config = dialog.config();
        QVERIFY(config.weights.empty() && !config.temperature && !config.topP &&
                !config.longestTurn);
        QTRY_VERIFY(found(dialog).startsWith(QStringLiteral("By default: usual")));
    }

    void whatIsNoModelIsRefused() {
        auto *dialog = new TransformerDialog({});
        dialog->show();
        QVERIFY(QTest::qWaitForWindowExposed(dialog));
        const QSignalSpy accepted(dialog, &QDialog::accepted);
        auto *weights = part<QLineEdit>(*dialog, "transformer.weights");
        write(QStringLiteral("text/readme.txt"), "no model");
        const std::pair<QString, QString> cases[] = {
            {folder_->filePath(QStringLiteral("nowhere")), QStringLiteral("There is no folder")},
            {folder_->filePath(QStringLiteral("text")), QStringLiteral("config.json is missing")},
            {QStringLiteral("/proc/version"), QStringLiteral("no folder of weights")}};
        for (const auto &[folder, words] : cases) {
            weights->setText(folder);
            dialog->accept();
            QTRY_VERIFY2(found(*dialog).contains(words), qPrintable(found(*dialog)));
            QVERIFY(found(*dialog).contains(folder));
            QVERIFY(dialog->isVisible());
        }
        picture(*dialog, "transformer-refused");
        // One that has a model is taken, as soon as it is found.
        weights->setText(model(QStringLiteral("other")));
        dialog->accept();
        QTRY_COMPARE(accepted.count(), 1);
        // No default: said as that.
        qputenv("CUDA_AGENT_WEIGHTS", folder_->filePath(QStringLiteral("none")).toUtf8());
        TransformerDialog without({});
        QTRY_VERIFY(found(without).contains(QStringLiteral("the default. Choose a folder")));
    }

    void aFolderIsChosenByHand() {
        TransformerDialog dialog({});
        const QString folder = model(QStringLiteral("picked"));
        part<QPushButton>(dialog, "transformer.choose")->click();
        auto *ask = part<QFileDialog>(dialog, "transformer.ask");
        QVERIFY(ask);
        Q_EMIT ask->fileSelected(folder);
        ask->reject();
        QTRY_VERIFY(found(dialog).startsWith(QStringLiteral("picked, ")));
        QCOMPARE(dialog.config().weights, std::filesystem::path(folder.toStdString()));
    }

    void theToolbarLeadsToThem() {
        const QString mine = model(QStringLiteral("mine"));
        {
            MainWindow window;
            window.resize(1280, 800);
            window.show();
            QVERIFY(QTest::qWaitForWindowExposed(&window));
            SessionView *view = window.openTask(task());
            auto *button = part<QToolButton>(window, "toolbar.policySettings");
            auto *policy = part<QComboBox>(window, "toolbar.policy");
            QVERIFY(!button->isEnabled()); // the planner has none
            policy->setCurrentIndex(trained);
            QVERIFY(button->isEnabled());
            QVERIFY(button->toolTip().contains(QStringLiteral("the default weights")));
            button->click();
            auto *dialog = window.findChild<TransformerDialog *>();
            QVERIFY(dialog);
            part<QLineEdit>(*dialog, "transformer.weights")->setText(mine);
            part<QDoubleSpinBox>(*dialog, "transformer.temperature")->setValue(0.6);
            part<QDoubleSpinBox>(*dialog, "transformer.topP")->setValue(0.95);
            part<QSpinBox>(*dialog, "transformer.longestTurn")->setValue(1000);
            QTRY_VERIFY(found(*dialog).contains(QStringLiteral("usual")));
            picture(window, "transformer-toolbar");
            dialog->accept();
            QTRY_VERIFY(!window.findChild<TransformerDialog *>());
            const auto &config = view->choices().transformer;
            QCOMPARE(config.weights, std::filesystem::path(mine.toStdString()));
            QCOMPARE(config.temperature.value_or(-1), 0.6);
            QCOMPARE(config.topP.value_or(-1), 0.95);
            QVERIFY(config.longestTurn == 1000);
            QVERIFY(button->toolTip().contains(mine));
        }
        // The next start has them, too, and the attempts dialog shows them.
        MainWindow window;
        window.show();
        QVERIFY(QTest::qWaitForWindowExposed(&window));
        SessionView *view = window.openTask(task());
        QCOMPARE(view->choices().policy, QStringLiteral("transformer"));
        QCOMPARE(view->choices().transformer.weights, std::filesystem::path(mine.toStdString()));
        QCOMPARE(view->choices().transformer.temperature.value_or(-1), 0.6);
        const auto openAttempts = [&] {
            window.findChild<QAction *>(QStringLiteral("session.attempts"))->trigger();
            return window.findChild<AttemptsDialog *>();
        };
        AttemptsDialog *dialog = openAttempts();
        QVERIFY(dialog && dialog->model());
        QTRY_VERIFY(found(*dialog).startsWith(QStringLiteral("mine, ")));
        part<QDoubleSpinBox>(*dialog, "transformer.temperature")->setValue(-1);
        part<QSpinBox>(*dialog, "attempts.count")->setValue(3);
        picture(*dialog, "transformer-attempts");
        dialog->accept();
        QTRY_VERIFY(!window.findChild<AttemptsDialog *>());
        QCOMPARE(view->choices().attempts, 3);
        QVERIFY(!view->choices().transformer.temperature);
        QVERIFY(view->choices().transformer.longestTurn == 1000);
        // With another policy there is nothing of it.
        part<QComboBox>(window, "toolbar.policy")->setCurrentIndex(0);
        dialog = openAttempts();
        QVERIFY(dialog && !dialog->model() && !part<QLineEdit>(*dialog, "transformer.weights"));
        dialog->reject();
        // What somebody spoilt in the settings is as usual.
        QSettings().setValue(QStringLiteral("choices/temperature"), QStringLiteral("hot"));
        QSettings().setValue(QStringLiteral("choices/topP"), 7);
        const auto spoilt = window.openTask(task())->choices().transformer;
        QVERIFY(!spoilt.temperature && !spoilt.topP && spoilt.longestTurn == 1000);
    }

    void withoutWeightsNothingStarts() {
        qputenv("CUDA_AGENT_WEIGHTS", folder_->filePath(QStringLiteral("none")).toUtf8());
        MainWindow window;
        window.show();
        QVERIFY(QTest::qWaitForWindowExposed(&window));
        SessionView *view = window.openTask(task());
        part<QComboBox>(window, "toolbar.policy")->setCurrentIndex(trained);
        const auto dialog = [&] { return window.findChild<TransformerDialog *>(); };
        QTRY_VERIFY(dialog()); // as with a language model without an endpoint
        dialog()->reject();
        QTRY_VERIFY(!dialog());
        view->run();
        QTRY_VERIFY(dialog());
        QVERIFY(!view->begun());
        QVERIFY(view->messages().text().contains(QStringLiteral("There are no weights in")));
        QVERIFY(view->canRun());
        // Chosen there, they are found at the next run: the engine has the word then.
        part<QLineEdit>(*dialog(), "transformer.weights")->setText(model(QStringLiteral("late")));
        dialog()->accept();
        QTRY_VERIFY(!dialog());
        QCOMPARE(view->choices().transformer.weights.filename(), std::filesystem::path("late"));
        // The choice itself is not kept where the weights have gone again.
        QVERIFY(QDir(folder_->filePath(QStringLiteral("late"))).removeRecursively());
        part<QSpinBox>(window, "toolbar.attempts")->setValue(2);
        QCOMPARE(window.openTask(task())->choices().policy, QStringLiteral("planner"));
    }

    void aSessionOnTheDiskTakesWeightsOnly() {
        write(QStringLiteral("old/session.jsonl"),
              "{\"schema\":1}\n"
              "{\"seq\":0,\"t\":1.0,\"type\":\"sessionStarted\",\"turn\":0,\"data\":{\"policy\":"
              "\"transformer\",\"transformer\":{\"name\":\"step-3\",\"temperature\":0.25,"
              "\"top_p\":0.5,\"longest_turn\":99},\"task\":{\"name\":\"x\",\"file\":\"x.py\"}}}\n");
        QSettings().setValue(QStringLiteral("choices/temperature"), 0.9);
        MainWindow window;
        window.show();
        QVERIFY(QTest::qWaitForWindowExposed(&window));
        SessionView *view = window.openSession(folder_->filePath(QStringLiteral("old")));
        QVERIFY(view);
        QTRY_VERIFY(!view->loading());
        QCOMPARE(view->choices().transformer.temperature.value_or(-1), 0.25);
        QCOMPARE(view->choices().transformer.topP.value_or(-1), 0.5);
        QVERIFY(view->choices().transformer.longestTurn == 99);
        part<QToolButton>(window, "toolbar.policySettings")->click();
        auto *dialog = window.findChild<TransformerDialog *>();
        QVERIFY(dialog && !part<QDoubleSpinBox>(*dialog, "transformer.temperature"));
        part<QLineEdit>(*dialog, "transformer.weights")->setText(model(QStringLiteral("moved")));
        dialog->accept();
        QTRY_VERIFY(!window.findChild<TransformerDialog *>());
        QCOMPARE(view->choices().transformer.weights.filename(), std::filesystem::path("moved"));
        QCOMPARE(view->choices().transformer.temperature.value_or(-1), 0.25);
    }
};

QTEST_MAIN(TransformerTest)
#include "transformer_test.moc"
