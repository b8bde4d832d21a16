// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

/// The window's part in devices that were put away: where they are shown, and the way to try them.
#include "widgets/shell/main_window.h"

#include "widgets/quarantine/quarantine_dialog.h"
#include "widgets/quarantine/quarantine_watch.h"
#include "widgets/shell/message_bar.h"
#include "widgets/shell/session_view.h"

#include <QComboBox>
#include <QStatusBar>
#include <QStyle>
#include <QToolButton>

namespace cuda_agent::widgets {

namespace {

constexpr std::size_t mostNotices = 3; ///< in the bar; the dialog has all

QIcon warningIcon(const QWidget *widget) {
    return widget->style()->standardIcon(QStyle::SP_MessageBoxWarning, nullptr, widget);
}

} // namespace

void MainWindow::makeQuarantineParts() {
    quarantineButton_ = new QToolButton(this);
    quarantineButton_->setObjectName(QStringLiteral("status.quarantine"));
    quarantineButton_->setIcon(warningIcon(this));
    quarantineButton_->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    quarantineButton_->setAutoRaise(true);
    connect(quarantineButton_, &QToolButton::clicked, this, [this] { openQuarantine({}); });
    statusBar()->insertPermanentWidget(0, quarantineButton_);
    connect(quarantine_, &QuarantineWatch::changed, this, &MainWindow::showQuarantine);
    showQuarantine();
}

/// In the bar over all perspectives, in the status bar, and where a device is chosen.
void MainWindow::showQuarantine() {
    const auto &list = quarantine_->list();
    QStringList notices, names;
    for (const device::Quarantine &each : list) {
        names += QString::fromStdString(each.device);
        if (names.size() <= static_cast<qsizetype>(mostNotices))
            notices += noticeText(each);
    }
    if (list.size() > mostNotices)
        notices += tr("%n more device(s) are in quarantine.", nullptr,
                      static_cast<int>(list.size() - mostNotices));
    if (list.empty())
        warning_->hide();
    else
        warning_->say(notices.join(QLatin1Char('\n')), MessageBar::Kind::warning,
                      quarantineAction_);
    quarantineButton_->setVisible(!list.empty());
    quarantineButton_->setText(tr("In quarantine: %1").arg(names.join(QStringLiteral(", "))));
    quarantineButton_->setToolTip(notices.join(QLatin1Char('\n')));
    for (const char *kind : {"cuda", "cpu"}) {
        const int row = device_->findData(QLatin1String(kind));
        const bool bad = quarantine_->concerns(QLatin1String(kind));
        device_->setItemIcon(row, bad ? warningIcon(this) : QIcon());
        device_->setItemData(row, bad ? tr("A device of this kind is in quarantine") : QString(),
                             Qt::ToolTipRole);
    }
}

void MainWindow::openQuarantine(const QString &device) {
    auto *dialog = findChild<QuarantineDialog *>(QString(), Qt::FindDirectChildrenOnly);
    if (!dialog)
        dialog = new QuarantineDialog(quarantine_, {}, this);
    dialog->select(device);
    dialog->show();
    dialog->raise();
    dialog->activateWindow();
}

} // namespace cuda_agent::widgets
