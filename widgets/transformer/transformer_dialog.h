// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/transformer/transformer_form.h"

#include <QDialog>

namespace cuda_agent::widgets {

/// The trained model of a session. Accepts only weights that are there. GUI thread.
class TransformerDialog : public QDialog {
    Q_OBJECT
  public:
    explicit TransformerDialog(const agent::TransformerConfig &config,
                               TransformerForm::Fields fields = TransformerForm::Fields::all,
                               QWidget *parent = nullptr);
    agent::TransformerConfig config() const { return form_->config(); }

  public slots:
    void accept() override;

  private:
    TransformerForm *form_;
};

} // namespace cuda_agent::widgets
