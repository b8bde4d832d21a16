// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/transformer/transformer_dialog.h"

#include <QDialogButtonBox>
#include <QPushButton>

namespace cuda_agent::widgets {

TransformerDialog::TransformerDialog(const agent::TransformerConfig &config,
                                     TransformerForm::Fields fields, QWidget *parent)
    : QDialog(parent), form_(new TransformerForm(config, fields, this)) {
    setObjectName(QStringLiteral("transformerDialog"));
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("Trained Model"));
    auto *note = new QLabel(
        fields == TransformerForm::Fields::all
            ? tr("The model that writes the kernels where the policy is Trained model. It was "
                 "trained in the Train perspective or by cuda-agent train.")
            : tr("The session goes on with the weights that it was begun with, wherever they are "
                 "now, and its turns are drawn as its log says."),
        this);
    note->setWordWrap(true);
    auto *buttons = new QDialogButtonBox(
        QDialogButtonBox::Ok | QDialogButtonBox::Cancel | QDialogButtonBox::RestoreDefaults, this);
    buttons->setObjectName(QStringLiteral("transformer.buttons"));
    buttons->button(QDialogButtonBox::RestoreDefaults)->setAutoDefault(false);
    connect(buttons, &QDialogButtonBox::accepted, this, &TransformerDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(buttons->button(QDialogButtonBox::RestoreDefaults), &QPushButton::clicked, form_,
            &TransformerForm::restoreDefaults);
    auto *column = new QVBoxLayout(this);
    column->addWidget(note);
    column->addWidget(form_);
    column->addWidget(buttons);
    resize(560, sizeHint().height());
}

void TransformerDialog::accept() {
    form_->whenUsable([this] { QDialog::accept(); });
}

} // namespace cuda_agent::widgets
