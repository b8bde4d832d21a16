// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/transformer/transformer_form.h"

#include <QDialog>

#include <optional>

class QSpinBox;

namespace cuda_agent::widgets {

/// How many attempts a run makes at its task, and how many of them at once; with a trained model,
/// how it is drawn from, too, which is how its attempts differ.
class AttemptsDialog : public QDialog {
    Q_OBJECT
  public:
    /// `atOnce` 0: as many as fit. `model`: where the policy is a trained one.
    AttemptsDialog(int attempts, int atOnce,
                   const std::optional<agent::TransformerConfig> &model = {},
                   QWidget *parent = nullptr);
    int attempts() const;
    int atOnce() const;
    std::optional<agent::TransformerConfig> model() const;

  public slots:
    void accept() override;

  private:
    QSpinBox *attempts_, *atOnce_;
    TransformerForm *model_ = nullptr; ///< null without a trained model
};

} // namespace cuda_agent::widgets
