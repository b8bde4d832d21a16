// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/attempts/attempts_dialog.h"

#include "core/agent/best_of.h"

#include <QDialogButtonBox>
#include <QFormLayout>
#include <QGroupBox>
#include <QSpinBox>

namespace cuda_agent::widgets {

AttemptsDialog::AttemptsDialog(int attempts, int atOnce,
                               const std::optional<agent::TransformerConfig> &model,
                               QWidget *parent)
    : QDialog(parent), attempts_(new QSpinBox(this)), atOnce_(new QSpinBox(this)) {
    setObjectName(QStringLiteral("attemptsDialog"));
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("Attempts at a Task"));
    const auto field = [](QSpinBox *box, const char *name, const QString &what, int least,
                          int value) {
        box->setObjectName(QLatin1String(name));
        box->setAccessibleName(what);
        box->setRange(least, agent::mostAttempts);
        box->setValue(value);
    };
    field(attempts_, "attempts.count", tr("Attempts"), 1, attempts);
    field(atOnce_, "attempts.atOnce", tr("At once at most"), 0, atOnce);
    atOnce_->setSpecialValueText(tr("as many as fit"));
    auto *form = new QFormLayout;
    form->addRow(tr("&Attempts:"), attempts_);
    form->addRow(tr("At &once:"), atOnce_);
    auto *note = new QLabel(tr("Attempts differ in what they try; each has a session, a budget and "
                               "a judge of its own. At the end their best candidates are judged "
                               "once more and the two fastest are timed in turns. One attempt on "
                               "each GPU fits; on a CPU, one for four hardware threads."),
                            this);
    note->setWordWrap(true);
    auto *buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel, this);
    connect(buttons, &QDialogButtonBox::accepted, this, &AttemptsDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    auto *column = new QVBoxLayout(this);
    column->addLayout(form);
    column->addWidget(note);
    if (model) {
        auto *group = new QGroupBox(tr("Trained model"), this);
        model_ = new TransformerForm(*model, TransformerForm::Fields::all, group);
        (new QVBoxLayout(group))->addWidget(model_);
        column->addWidget(group);
    }
    column->addWidget(buttons);
    resize(model ? 560 : 420, sizeHint().height());
}

void AttemptsDialog::accept() {
    if (!model_)
        return QDialog::accept();
    model_->whenUsable([this] { QDialog::accept(); });
}

int AttemptsDialog::attempts() const {
    return attempts_->value();
}

int AttemptsDialog::atOnce() const {
    return atOnce_->value();
}

std::optional<agent::TransformerConfig> AttemptsDialog::model() const {
    return model_ ? std::optional(model_->config()) : std::nullopt;
}

} // namespace cuda_agent::widgets
