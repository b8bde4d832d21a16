// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/quarantine/quarantine_dialog.h"

#include "widgets/base/theme.h"
#include "widgets/quarantine/quarantine_lift.h"
#include "widgets/quarantine/quarantine_model.h"
#include "widgets/quarantine/quarantine_watch.h"

#include <QAccessible>
#include <QDialogButtonBox>
#include <QHeaderView>
#include <QMessageBox>
#include <QProgressBar>
#include <QPushButton>
#include <QTreeView>

#include <cmath>

namespace cuda_agent::widgets {

QuarantineDialog::QuarantineDialog(QuarantineWatch *watch,
                                   std::optional<device::ProbeOptions> options, QWidget *parent)
    : QDialog(parent), watch_(watch), lift_(new QuarantineLift(std::move(options), this)),
      model_(new QuarantineModel(this)) {
    setObjectName(QStringLiteral("quarantineDialog"));
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("Devices in Quarantine"));
    makeParts();
    auto *clock = new QTimer(this);
    connect(clock, &QTimer::timeout, this, &QuarantineDialog::showProgress);
    clock->start(200);
    connect(lift_, &QuarantineLift::finished, this, &QuarantineDialog::take);
    connect(watch_, &QuarantineWatch::changed, this, &QuarantineDialog::refresh);
    connect(view_->selectionModel(), &QItemSelectionModel::currentChanged, this,
            &QuarantineDialog::refresh);
    connect(&Theme::instance(), &Theme::changed, this, &QuarantineDialog::retheme);
    watch_->refresh();
    refresh();
    resize(680, 400);
    view_->setFocus();
}

void QuarantineDialog::makeParts() {
    auto *note = new QLabel(tr("A GPU that stays bad after a kernel makes everything that touches "
                               "it wait for ever. Such a device is put away: no session and no "
                               "check uses it until it has been tried and is well."),
                            this);
    note->setWordWrap(true);
    none_ = new QLabel(tr("No device is in quarantine."), this);
    none_->setObjectName(QStringLiteral("quarantine.none"));
    view_ = new QTreeView(this);
    view_->setModel(model_);
    view_->setObjectName(QStringLiteral("quarantine.devices"));
    view_->setAccessibleName(windowTitle());
    view_->setRootIsDecorated(false);
    view_->setUniformRowHeights(true);
    view_->setAllColumnsShowFocus(true);
    view_->header()->setStretchLastSection(true);
    progress_ = new QProgressBar(this);
    progress_->setAccessibleName(tr("Progress"));
    said_ = new QLabel(this);
    said_->setObjectName(QStringLiteral("quarantine.said"));
    said_->setWordWrap(true);
    said_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    auto *buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    try_ = buttons->addButton(tr("&Try and Lift…"), QDialogButtonBox::ActionRole);
    try_->setObjectName(QStringLiteral("quarantine.try"));
    stop_ = buttons->addButton(tr("&Stop"), QDialogButtonBox::ActionRole);
    stop_->setObjectName(QStringLiteral("quarantine.stop"));
    connect(try_, &QPushButton::clicked, this, &QuarantineDialog::tryToLift);
    connect(stop_, &QPushButton::clicked, lift_, [this] { lift_->stop(); });
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    auto *column = new QVBoxLayout(this);
    column->addWidget(note);
    column->addWidget(none_);
    column->addWidget(view_, 1);
    column->addWidget(progress_);
    column->addWidget(said_);
    column->addWidget(buttons);
}

void QuarantineDialog::select(const QString &device) {
    if (const int row = model_->rowOf(device); row >= 0)
        view_->setCurrentIndex(model_->index(row, 0));
}

QString QuarantineDialog::said() const {
    return said_->text();
}

void QuarantineDialog::refresh() {
    model_->set(watch_->list());
    for (const int column : {QuarantineModel::DeviceColumn, QuarantineModel::SinceColumn}) {
        view_->resizeColumnToContents(column);
        view_->setColumnWidth(column, view_->columnWidth(column) + 16);
    }
    if (!view_->currentIndex().isValid() && model_->rowCount() > 0)
        view_->setCurrentIndex(model_->index(0, 0));
    const bool any = model_->rowCount() > 0;
    none_->setVisible(!any);
    try_->setEnabled(any && !lift_->busy() && view_->currentIndex().isValid());
    stop_->setVisible(lift_->busy());
    progress_->setVisible(lift_->busy());
    said_->setVisible(!said_->text().isEmpty());
}

void QuarantineDialog::tryToLift() {
    const QString device = model_->device(view_->currentIndex().row());
    if (device.isEmpty() || lift_->busy())
        return;
    auto *ask = new QMessageBox(QMessageBox::Question, windowTitle(), tr("Try %1 now?").arg(device),
                                QMessageBox::Cancel, this);
    ask->setObjectName(QStringLiteral("quarantine.confirm"));
    ask->setAttribute(Qt::WA_DeleteOnClose);
    ask->setInformativeText(
        tr("A small program of its own fills memory of the device and runs a kernel on it, for at "
           "most %n second(s). When the device is well, its quarantine is lifted and sessions use "
           "it again.",
           nullptr, static_cast<int>(std::ceil(lift_->patience()))));
    auto *go = ask->addButton(tr("&Try and Lift"), QMessageBox::AcceptRole);
    ask->setDefaultButton(go);
    connect(go, &QPushButton::clicked, this, [this, device] { start(device); });
    ask->open();
}

void QuarantineDialog::start(const QString &device) {
    said_->clear();
    trying_.start();
    progress_->setRange(0, static_cast<int>(std::ceil(lift_->patience())));
    lift_->start(device);
    showProgress();
    refresh();
}

void QuarantineDialog::showProgress() {
    if (!lift_->busy())
        return;
    const int seconds = static_cast<int>(trying_.elapsed() / 1000);
    progress_->setValue(std::min(seconds, progress_->maximum()));
    progress_->setFormat(tr("trying %1: %2 s of at most %3 s")
                             .arg(lift_->device())
                             .arg(seconds)
                             .arg(progress_->maximum()));
}

void QuarantineDialog::take(const LiftAnswer &answer) {
    watch_->refresh();
    if (answer.lifted)
        say(*answer.lifted ? tr("%1 is well; its quarantine is lifted.").arg(answer.device)
                           : tr("%1 is well; it was in no quarantine.").arg(answer.device),
            true);
    else if (answer.lifted.error().kind == ErrorKind::stopped)
        say(tr("Stopped; %1 stays in quarantine.").arg(answer.device), false);
    else
        say(QString::fromStdString(answer.lifted.error().message), false);
    refresh();
}

void QuarantineDialog::retheme() {
    const Colors &colors = Theme::instance().colors();
    setTextColor(said_, good_ ? colors.good : colors.bad);
}

void QuarantineDialog::say(const QString &text, bool good) {
    good_ = good;
    retheme();
    said_->setText(text);
    QAccessibleEvent alert(said_, QAccessible::Alert);
    QAccessible::updateAccessibility(&alert);
}

} // namespace cuda_agent::widgets
