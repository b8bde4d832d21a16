// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/tools/permissions_dialog.h"

#include "widgets/tools/permissions_model.h"

#include <QDialogButtonBox>
#include <QHeaderView>
#include <QPushButton>
#include <QTreeView>

namespace cuda_agent::widgets {

PermissionsDialog::PermissionsDialog(QWidget *parent)
    : QDialog(parent), model_(new PermissionsModel(ToolPermissions::instance().asking(), this)),
      view_(new QTreeView(this)) {
    setObjectName(QStringLiteral("permissionsDialog"));
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("Tools That Ask First"));
    auto *note = new QLabel(tr("All that the agent does runs in a sandbox without network, in the "
                               "session's own folder. Tools with a check mark wait all the same "
                               "until you allow or refuse the call."),
                            this);
    note->setWordWrap(true);
    view_->setModel(model_);
    view_->setObjectName(QStringLiteral("permissions.tools"));
    view_->setAccessibleName(tr("Tools of the agent"));
    view_->setRootIsDecorated(false);
    view_->setUniformRowHeights(true);
    view_->setAllColumnsShowFocus(false);
    view_->setSelectionBehavior(QAbstractItemView::SelectItems);
    view_->header()->setStretchLastSection(true);
    view_->resizeColumnToContents(PermissionsModel::ToolColumn);
    view_->setColumnWidth(PermissionsModel::ToolColumn,
                          view_->columnWidth(PermissionsModel::ToolColumn) + 16);
    view_->setColumnWidth(PermissionsModel::PermissionColumn,
                          fontMetrics().horizontalAdvance(tr("Permission")) + 60);
    view_->setCurrentIndex(model_->index(0, PermissionsModel::PermissionColumn));

    auto *buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel, this);
    auto *changes = buttons->addButton(tr("Ask for &Changes"), QDialogButtonBox::ResetRole);
    changes->setToolTip(tr("All tools that change files or run programs ask first"));
    auto *none = buttons->addButton(tr("&Never Ask"), QDialogButtonBox::ResetRole);
    for (QPushButton *button : {changes, none})
        button->setAutoDefault(false);
    connect(changes, &QPushButton::clicked, model_, &PermissionsModel::askForChanges);
    connect(none, &QPushButton::clicked, model_, &PermissionsModel::askForNone);
    connect(buttons, &QDialogButtonBox::accepted, this, &PermissionsDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    auto *column = new QVBoxLayout(this);
    column->addWidget(note);
    column->addWidget(view_, 1);
    column->addWidget(buttons);
    resize(720, 460);
    view_->setFocus();
}

void PermissionsDialog::accept() {
    ToolPermissions::instance().setAsking(model_->asking());
    QDialog::accept();
}

} // namespace cuda_agent::widgets
