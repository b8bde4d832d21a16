// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/runs/train_launcher.h"

#include <QDialog>

class QDialogButtonBox;
class QLabel;
class QLineEdit;

namespace cuda_agent::widgets {

/// Asks for recipe and folder of a training run. A folder that holds a run is gone on with. What is
/// typed last is remembered when the dialog is accepted. GUI thread.
class TrainDialog : public QDialog {
    Q_OBJECT
  public:
    /// `missing`: what to say when the trainer is not there; the run cannot be started then.
    explicit TrainDialog(const QString &missing, QWidget *parent = nullptr);

    void setRecipe(const QString &recipe);
    void setFolder(const QString &folder);
    TrainRequest request() const;

  private:
    void look();
    void done(int result) override;

    QLineEdit *recipe_, *folder_;
    QLabel *note_;
    QDialogButtonBox *buttons_;
    QString missing_;
};

} // namespace cuda_agent::widgets
