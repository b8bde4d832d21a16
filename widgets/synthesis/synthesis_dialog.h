// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/synthesis/synthesis_process.h"

#include <QDialog>

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QSpinBox;

namespace cuda_agent::widgets {

/// Asks what a new synthesis is to be; remembers the answers. GUI thread.
class SynthesisDialog : public QDialog {
    Q_OBJECT
  public:
    explicit SynthesisDialog(QWidget *parent = nullptr);
    /// What the fields say.
    SynthesisRequest request() const;
    void accept() override;

  private:
    void check();
    void askRecipe();
    void askFolder();

    QLineEdit *recipe_, *folder_, *seed_;
    QComboBox *device_;
    QSpinBox *tasks_;
    QLabel *note_;
    QPushButton *start_;
};

} // namespace cuda_agent::widgets
