// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>

class QTreeView;

namespace cuda_agent::widgets {

class PermissionsModel;

/// Which of the agent's tools ask first. Takes effect with OK, also in sessions that run.
class PermissionsDialog : public QDialog {
    Q_OBJECT
  public:
    explicit PermissionsDialog(QWidget *parent = nullptr);
    PermissionsModel &model() { return *model_; }

  public slots:
    void accept() override;

  private:
    PermissionsModel *model_;
    QTreeView *view_;
};

} // namespace cuda_agent::widgets
