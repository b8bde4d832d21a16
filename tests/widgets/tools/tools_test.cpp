// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/tools/toolbox.h"
#include "widgets/base/theme.h"
#include "widgets/tools/approval_bar.h"
#include "widgets/tools/permissions_dialog.h"
#include "widgets/tools/permissions_model.h"

#include <QAbstractItemModelTester>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTest>
#include <QTreeView>

using namespace cuda_agent;
using namespace cuda_agent::widgets;

class ToolsTest : public QObject {
    Q_OBJECT
  private:
    static QModelIndex permission(const PermissionsModel &model, const char *tool) {
        for (int row = 0; row < model.rowCount(); ++row)
            if (model.index(row, PermissionsModel::ToolColumn).data().toString() ==
                QLatin1String(tool))
                return model.index(row, PermissionsModel::PermissionColumn);
        return {};
    }

  private slots:
    void initTestCase() { QStandardPaths::setTestModeEnabled(true); }
    void init() { QSettings().clear(); }

    void modelHoldsItsContract() {
        PermissionsModel model({});
        const QAbstractItemModelTester tester(
            &model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        QCOMPARE(model.rowCount(), static_cast<int>(tools::allTools().size()));
        const QModelIndex bash = permission(model, "Bash");
        QVERIFY(bash.isValid());
        QCOMPARE(bash.data().toString(), QStringLiteral("Always"));
        QVERIFY(model.setData(bash, Qt::Checked, Qt::CheckStateRole));
        QCOMPARE(bash.data().toString(), QStringLiteral("Ask"));
        QCOMPARE(model.asking(), std::set<std::string>{"Bash"});
        QVERIFY(!model.setData(bash.siblingAtColumn(PermissionsModel::ToolColumn), Qt::Checked,
                               Qt::CheckStateRole));
        model.askForChanges();
        for (const char *tool : {"Bash", "Write", "Edit", "MultiEdit"})
            QVERIFY2(model.asking().contains(tool), tool);
        QVERIFY(!model.asking().contains("Read"));
        model.askForNone();
        QVERIFY(model.asking().empty());
    }

    void nothingAsksUnlessChosen() {
        QVERIFY(ToolPermissions::instance().asking().empty());
        QSignalSpy changed(&ToolPermissions::instance(), &ToolPermissions::changed);
        auto *dialog = new PermissionsDialog;
        dialog->show();
        auto *view = dialog->findChild<QTreeView *>();
        view->setCurrentIndex(permission(dialog->model(), "Write"));
        view->setFocus();
        QTest::keyClick(view, Qt::Key_Space); // without a mouse
        QVERIFY(dialog->model().asking().contains("Write"));
        QVERIFY(ToolPermissions::instance().asking().empty()); // not yet
        dialog->accept();
        QCOMPARE(changed.size(), 1);
        QCOMPARE(ToolPermissions::instance().asking(), std::set<std::string>{"Write"});
    }

    void theBarShowsTheCallAndTakesTheAnswer() {
        ApprovalBar bar;
        QVERIFY(!bar.isVisibleTo(nullptr));
        const session::ToolCall call{
            "c1", "Bash", {{"command", "ls\nrm -rf build"}, {"timeout", 30}}};
        bar.setCall(call);
        bar.show();
        QVERIFY(bar.shownArguments().contains(QStringLiteral("command:\nls\nrm -rf build")));
        QVERIFY(bar.shownArguments().contains(QStringLiteral("timeout: 30")));
        QVERIFY(bar.findChild<QLabel *>(QStringLiteral("approval.title"))
                    ->text()
                    .contains(QStringLiteral("Bash")));
        QSignalSpy allowed(&bar, &ApprovalBar::allowed);
        QSignalSpy all(&bar, &ApprovalBar::allAllowed);
        QStringList reasons;
        connect(&bar, &ApprovalBar::refused, this,
                [&](const session::ToolCall &, const QString &reason) { reasons += reason; });
        bar.findChild<QAction *>(QStringLiteral("approval.allow"))->trigger();
        QTest::mouseClick(bar.findChild<QPushButton *>(QStringLiteral("approval.allowAllButton")),
                          Qt::LeftButton);
        auto *reason = bar.findChild<QLineEdit *>(QStringLiteral("approval.reason"));
        QTest::keyClicks(reason, QStringLiteral(" not that folder "));
        QTest::keyClick(reason, Qt::Key_Return);
        QCOMPARE(allowed.size(), 1);
        QCOMPARE(all.size(), 1);
        QCOMPARE(reasons, QStringList{QStringLiteral("not that folder")});
        bar.setCall(session::ToolCall{"c2", "Bash", Json::object()});
        QVERIFY(reason->text().isEmpty()); // it was for another call
        bar.setCall({});
        QVERIFY(!bar.isVisible());
        bar.findChild<QAction *>(QStringLiteral("approval.allow"))->trigger(); // nobody asks
        QCOMPARE(allowed.size(), 1);
    }

    void strangeArgumentsAreShownToo() {
        QCOMPARE(argumentsText(Json("text")), QStringLiteral("\"text\""));
        QVERIFY(
            argumentsText({{"a", "\xff\xfe"}, {"b", nullptr}}).contains(QStringLiteral("b: null")));
        const QString big = argumentsText({{"content", std::string(1'000'000, 'x')}});
        QVERIFY(big.size() < 30'000);
        QVERIFY(big.contains(QStringLiteral("not shown")));
    }

    void theBarFollowsTheColours() {
        ApprovalBar bar;
        bar.setCall(session::ToolCall{"c1", "Bash", {{"command", "ls"}}});
        bar.resize(480, bar.sizeHint().height());
        bar.show();
        for (const auto scheme : {Theme::Scheme::dark, Theme::Scheme::light}) {
            Theme::instance().setScheme(scheme);
            const QImage image = bar.grab().toImage();
            QCOMPARE(image.pixelColor(1, 20), Theme::instance().colors().warning);
            QCOMPARE(image.pixelColor(image.width() - 3, 3), Theme::instance().colors().panel);
        }
    }

    void looks() {
        const QString pictures = qEnvironmentVariable("CUDA_AGENT_SCREENSHOTS");
        for (const bool dark : {false, true}) {
            Theme::instance().setScheme(dark ? Theme::Scheme::dark : Theme::Scheme::light);
            PermissionsDialog dialog;
            dialog.setAttribute(Qt::WA_DeleteOnClose, false);
            dialog.model().askForChanges();
            dialog.show();
            QVERIFY(QTest::qWaitForWindowExposed(&dialog));
            if (!pictures.isEmpty())
                dialog.grab().save(pictures + (dark ? QStringLiteral("/permissions-dark.png")
                                                    : QStringLiteral("/permissions-light.png")));
        }
    }
};

QTEST_MAIN(ToolsTest)
#include "tools_test.moc"
