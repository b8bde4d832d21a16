// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/base/theme.h"
#include "widgets/quarantine/quarantine_dialog.h"
#include "widgets/quarantine/quarantine_lift.h"
#include "widgets/quarantine/quarantine_model.h"
#include "widgets/quarantine/quarantine_watch.h"
#include "widgets/shell/main_window.h"
#include "widgets/shell/message_bar.h"
#include "widgets/shell/session_view.h"

#include <QAbstractButton>
#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QElapsedTimer>
#include <QMessageBox>
#include <QProgressBar>
#include <QPushButton>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

using namespace cuda_agent;
using namespace cuda_agent::widgets;
using State = SessionRunner::State;

/// Devices that were put away, by files in a cache folder of the test's own. What tries cpu0 is the
/// real probe in its sandbox.
class QuarantineTest : public QObject {
    Q_OBJECT
  private:
    static constexpr int patience = 30'000; // milliseconds on a busy machine
    std::unique_ptr<QTemporaryDir> folder_;

    QString file(const QString &name) const { return folder_->filePath(name); }
    QString quarantineFile(const char *device) const {
        return file(QStringLiteral("cache/quarantine/%1.json").arg(QLatin1String(device)));
    }
    void putAway(const char *device, const QByteArray &text = {}) {
        QVERIFY(QDir().mkpath(file(QStringLiteral("cache/quarantine"))));
        QFile stored(quarantineFile(device));
        QVERIFY(stored.open(QIODevice::WriteOnly));
        stored.write(!text.isEmpty() ? text
                                     : R"({"reason": "a kernel never ended", "time": 1800000000})");
    }
    QString task() {
        QFile stored(file(QStringLiteral("task.py")));
        if (stored.open(QIODevice::WriteOnly))
            stored.write("import torch\n\n\nclass Model(torch.nn.Module):\n"
                         "    def forward(self, x):\n        return torch.relu(x) * 2\n\n\n"
                         "def get_inputs():\n    return [torch.randn(64, 500)]\n\n\n"
                         "def get_init_inputs():\n    return []\n");
        return stored.fileName();
    }
    /// A program that stands in for the probe.
    device::ProbeOptions standIn(const QByteArray &script) {
        QFile program(file(QStringLiteral("probe")));
        if (program.open(QIODevice::WriteOnly))
            program.write("#!/bin/sh\n" + script + "\n");
        program.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner |
                               QFile::ReadOther | QFile::ExeOther);
        device::ProbeOptions options;
        options.program = program.fileName().toStdString();
        return options;
    }
    /// Presses the button that was asked about.
    static void answer(const QDialog &dialog, bool yes) {
        const QMessageBox *ask = nullptr;
        for (const QMessageBox *each :
             dialog.findChildren<QMessageBox *>(QStringLiteral("quarantine.confirm")))
            if (each->isVisible()) // one that was answered before goes a little later
                ask = each;
        QVERIFY(ask);
        for (QAbstractButton *button : ask->buttons())
            if ((ask->buttonRole(button) == QMessageBox::AcceptRole) == yes)
                return button->click();
        QFAIL("no such button");
    }

    /// For people to look at, where CUDA_AGENT_SCREENSHOTS says so.
    static void picture(QWidget &window, const char *name) {
        const QString pictures = qEnvironmentVariable("CUDA_AGENT_SCREENSHOTS");
        if (pictures.isEmpty())
            return;
        for (const bool dark : {true, false}) {
            Theme::instance().setScheme(dark ? Theme::Scheme::dark : Theme::Scheme::light);
            QTest::qWait(100);
            window.grab().save(
                QStringLiteral("%1/%2-%3.png")
                    .arg(pictures, QLatin1String(name), QLatin1String(dark ? "dark" : "light")));
        }
    }

  private slots:
    void initTestCase() {
        QStandardPaths::setTestModeEnabled(true);
        qunsetenv("CUDA_VISIBLE_DEVICES");
    }
    void init() {
        QSettings().clear();
        folder_ = std::make_unique<QTemporaryDir>();
        qputenv("CUDA_AGENT_CACHE", file(QStringLiteral("cache")).toUtf8());
        qputenv("CUDA_AGENT_DATA", file(QStringLiteral("data")).toUtf8());
    }

    void modelHoldsItsContract() {
        QuarantineModel model;
        const QAbstractItemModelTester tester(
            &model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        const auto devices = [&] {
            QStringList names;
            for (int row = 0; row < model.rowCount(); ++row)
                names += model.device(row);
            return names.join(QLatin1Char(' '));
        };
        model.set({{"cuda1", "one", 1.8e9}, {"cuda3", "three", 0}});
        QCOMPARE(devices(), QStringLiteral("cuda1 cuda3"));
        const QPersistentModelIndex third(model.index(1, 0));
        model.set({{"cpu0", "x", 0}, {"cuda2", "y", 0}, {"cuda3", "three", 0}});
        QCOMPARE(devices(), QStringLiteral("cpu0 cuda2 cuda3"));
        QCOMPARE(third.row(), 2); // what was selected stays so
        QCOMPARE(model.index(2, QuarantineModel::ReasonColumn).data().toString(),
                 QStringLiteral("three"));
        QCOMPARE(model.index(2, QuarantineModel::SinceColumn).data().toString(),
                 QStringLiteral("an unknown time"));
        model.set({});
        QCOMPARE(model.rowCount(), 0);
        QCOMPARE(model.device(0), QString());
        QCOMPARE(model.rowOf(QStringLiteral("cuda3")), -1);
    }

    void watchSeesWhatComesChangesAndGoes() {
        QuarantineWatch watch; // before there is any folder
        QSignalSpy changed(&watch, &QuarantineWatch::changed);
        QVERIFY(watch.list().empty());
        putAway("cuda9");
        QTRY_COMPARE_WITH_TIMEOUT(watch.list().size(), std::size_t{1}, patience);
        QVERIFY(watch.concerns(QStringLiteral("cuda")));
        QVERIFY(!watch.concerns(QStringLiteral("cpu")));
        QVERIFY(noticeText(watch.list()[0]).contains(QStringLiteral("cuda9")));
        QVERIFY(noticeText(watch.list()[0]).contains(QStringLiteral("a kernel never ended")));
        QVERIFY(noticeText(watch.list()[0]).contains(QStringLiteral("27"))); // of 2027
        // Now that the folder is there, its changes tell at once.
        QElapsedTimer clock;
        clock.start();
        putAway("cpu0", "rubbish");
        QTRY_COMPARE_WITH_TIMEOUT(watch.list().size(), std::size_t{2}, patience);
        QVERIFY2(clock.elapsed() < 3000, qPrintable(QString::number(clock.elapsed())));
        QVERIFY(noticeText(watch.list()[0]).contains(QStringLiteral("an unknown time")));
        changed.clear();
        watch.refresh();
        QCOMPARE(changed.size(), 0); // nothing is another
        QVERIFY(QFile::remove(quarantineFile("cuda9")));
        QTRY_COMPARE_WITH_TIMEOUT(watch.list().size(), std::size_t{1}, patience);
    }

    void theEnginesWordsAreKnownAgain() {
        putAway("cpu0");
        const QString text =
            QString::fromStdString(device::checkNotQuarantined("cpu0").error().message);
        const auto found = quarantineBehind(QStringLiteral("timing: ") + text);
        QVERIFY(found);
        QCOMPARE(found->device, std::string("cpu0"));
        QVERIFY(!quarantineBehind(QStringLiteral("cpu0 is out of memory")));
        QVERIFY(!quarantineBehind(QString()));
    }

    void aTryEndsInWordsAndKeepsWhatIsNotWell() {
        putAway("cpu0");
        QuarantineWatch watch;
        QuarantineDialog dialog(&watch, standIn("echo 'a fill left a wrong word' >&2; exit 1"));
        dialog.setAttribute(Qt::WA_DeleteOnClose, false);
        dialog.show();
        QVERIFY(QTest::qWaitForWindowExposed(&dialog));
        auto *tries = dialog.findChild<QPushButton *>(QStringLiteral("quarantine.try"));
        QVERIFY(tries->isEnabled());
        tries->click();
        answer(dialog, false);
        QVERIFY(!dialog.lift().busy()); // the question was meant
        tries->click();
        answer(dialog, true);
        QVERIFY(dialog.lift().busy());
        QVERIFY(dialog.findChild<QProgressBar *>()->isVisible());
        QVERIFY(!tries->isEnabled());
        QTRY_VERIFY_WITH_TIMEOUT(!dialog.said().isEmpty(), patience);
        QVERIFY2(dialog.said().contains(QStringLiteral("a fill left a wrong word")),
                 qPrintable(dialog.said()));
        QVERIFY(QFile::exists(quarantineFile("cpu0")));
        QVERIFY(tries->isEnabled() && !dialog.findChild<QProgressBar *>()->isVisible());
        picture(dialog, "quarantine-dialog");
    }

    void aTryCanBeStopped() {
        putAway("cpu0");
        QuarantineWatch watch;
        auto dialog = std::make_unique<QuarantineDialog>(&watch, standIn("sleep 25"));
        dialog->setAttribute(Qt::WA_DeleteOnClose, false);
        dialog->show();
        QVERIFY(QTest::qWaitForWindowExposed(dialog.get()));
        dialog->tryToLift();
        answer(*dialog, true);
        QTest::qWait(1200);
        auto *progress = dialog->findChild<QProgressBar *>();
        QVERIFY2(progress->value() >= 1, "the time goes by");
        QVERIFY(progress->text().contains(QStringLiteral("cpu0")));
        QElapsedTimer clock;
        clock.start();
        dialog->findChild<QPushButton *>(QStringLiteral("quarantine.stop"))->click();
        QTRY_VERIFY_WITH_TIMEOUT(!dialog->lift().busy(), patience);
        QVERIFY2(clock.elapsed() < 5000, qPrintable(QString::number(clock.elapsed())));
        QVERIFY(dialog->said().contains(QStringLiteral("stays in quarantine")));
        QVERIFY(QFile::exists(quarantineFile("cpu0")));
        // Closing in the middle of another neither waits nor answers late.
        dialog->tryToLift();
        answer(*dialog, true);
        QTest::qWait(200);
        clock.restart();
        dialog.reset();
        QVERIFY2(clock.elapsed() < 500, qPrintable(QString::number(clock.elapsed())));
        QTest::qWait(300);
        QVERIFY(QFile::exists(quarantineFile("cpu0")));
    }

    void theWindowShowsItEverywhere() {
        MainWindow window;
        window.resize(1280, 800);
        window.show();
        QVERIFY(QTest::qWaitForWindowExposed(&window));
        auto *warning = window.findChild<MessageBar *>(QStringLiteral("quarantine.warning"));
        auto *button = window.findChild<QToolButton *>(QStringLiteral("status.quarantine"));
        auto *device = window.findChild<QComboBox *>(QStringLiteral("toolbar.device"));
        QVERIFY(warning->text().isEmpty() && !button->isVisible());
        putAway("cuda9");
        QTRY_VERIFY_WITH_TIMEOUT(warning->isVisible(), patience);
        QVERIFY(warning->text().contains(QStringLiteral("cuda9 is in quarantine since")));
        QVERIFY(warning->text().contains(QStringLiteral("a kernel never ended")));
        QVERIFY(button->isVisible() && button->text().contains(QStringLiteral("cuda9")));
        QVERIFY(!device->itemIcon(device->findData(QStringLiteral("cuda"))).isNull());
        QVERIFY(device->itemIcon(device->findData(QStringLiteral("cpu"))).isNull());
        for (const auto perspective :
             {MainWindow::Perspective::data, MainWindow::Perspective::train}) {
            window.setPerspective(perspective);
            QVERIFY(warning->isVisible());
        }
        for (const char *more : {"cuda1", "cuda2", "cuda3"})
            putAway(more);
        QTRY_VERIFY_WITH_TIMEOUT(warning->text().contains(QStringLiteral("1 more device")),
                                 patience);
        QVERIFY(QDir(file(QStringLiteral("cache/quarantine"))).removeRecursively());
        QTRY_VERIFY_WITH_TIMEOUT(!warning->isVisible() && !button->isVisible(), patience);
        QVERIFY(device->itemIcon(device->findData(QStringLiteral("cuda"))).isNull());
    }

    void aRunThatCannotBeginSaysWhatToDoAndBeginsAfterwards() {
        putAway("cpu0");
        MainWindow window;
        window.resize(1280, 800);
        window.show();
        QVERIFY(QTest::qWaitForWindowExposed(&window));
        SessionView *view = window.openTask(task());
        QVERIFY(view);
        Choices choices = view->choices();
        choices.device = QStringLiteral("cpu");
        view->setChoices(choices);
        view->run();
        QTRY_COMPARE_WITH_TIMEOUT(view->runner().state(), State::ended, patience);
        const QString said = view->messages().text();
        for (const char *part : {"cpu0 is in quarantine since", "a kernel never ended",
                                 "lift its quarantine, or choose another device"})
            QVERIFY2(said.contains(QLatin1String(part)), qPrintable(said));
        // Nothing has begun: another device can be chosen.
        QVERIFY(!view->begun() && view->canRun());
        QVERIFY(window.findChild<QComboBox *>(QStringLiteral("toolbar.device"))->isEnabled());
        QVERIFY(!std::filesystem::exists(view->document().folder()));

        auto *remedy = view->messages().findChild<QToolButton *>(QStringLiteral("message.remedy"));
        QVERIFY(remedy->isVisible());
        picture(window, "quarantine-refused");
        remedy->click();
        auto *dialog = window.findChild<QuarantineDialog *>();
        QVERIFY(dialog && dialog->isVisible());
        dialog->tryToLift();
        answer(*dialog, true);
        QTRY_VERIFY_WITH_TIMEOUT(!dialog->said().isEmpty(), patience);
        QCOMPARE(dialog->said(), QStringLiteral("cpu0 is well; its quarantine is lifted."));
        QVERIFY(!QFile::exists(quarantineFile("cpu0")));
        QTRY_VERIFY(window.quarantine().list().empty());
        QVERIFY(dialog->findChild<QLabel *>(QStringLiteral("quarantine.none"))->isVisible());
        dialog->close();
        view->run();
        QTRY_COMPARE_WITH_TIMEOUT(view->runner().state(), State::preparing, patience);
        QVERIFY(view->messages().text().isEmpty());
        QTRY_VERIFY_WITH_TIMEOUT(view->document().index().size() > 0, patience);
        QVERIFY(view->begun());
        view->stop();
        QTRY_COMPARE_WITH_TIMEOUT(view->runner().state(), State::ended, patience);
    }

    void anotherRunsEndIsLookedAt() {
        MainWindow window;
        window.show();
        QVERIFY(QTest::qWaitForWindowExposed(&window));
        SessionView *view = window.openTask(task());
        QSignalSpy changed(&window.quarantine(), &QuarantineWatch::changed);
        putAway("cuda9");
        Q_EMIT view->runner().failed(QStringLiteral("the machine failed"));
        QCOMPARE(changed.size(), 1); // at once, whatever the file system tells
        QCOMPARE(view->messages().text(), QStringLiteral("the machine failed"));
        auto *remedy = view->messages().findChild<QToolButton *>(QStringLiteral("message.remedy"));
        QVERIFY(!remedy->isVisible());
        // A fault in the middle of a session that put the device away: the same way out.
        Q_EMIT view->runner().failed(
            QString::fromStdString(device::checkNotQuarantined("cuda9").error().message));
        QVERIFY(view->messages().text().contains(QStringLiteral("cuda9 is in quarantine")));
        QVERIFY(remedy->isVisible());
        // Who closes the warning has read it; another device is said again.
        auto *warning = window.findChild<MessageBar *>(QStringLiteral("quarantine.warning"));
        QVERIFY(warning->isVisible());
        warning->hide();
        window.quarantine().refresh();
        QVERIFY(!warning->isVisible());
        putAway("cuda8");
        window.quarantine().refresh();
        QVERIFY(warning->isVisible());
    }
};

QTEST_MAIN(QuarantineTest)
#include "quarantine_test.moc"
