// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/budget/budget_dialog.h"

#include <QDialogButtonBox>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QSpinBox>

#include <cmath>

namespace cuda_agent::widgets {

BudgetDialog::BudgetDialog(const agent::Budget &budget, QWidget *parent)
    : QDialog(parent), turns_(new QSpinBox(this)), seconds_(new QSpinBox(this)),
      tokens_(new QDoubleSpinBox(this)), cost_(new QDoubleSpinBox(this)) {
    setObjectName(QStringLiteral("budgetDialog"));
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("Budget of a Session"));
    turns_->setRange(1, 1000);
    seconds_->setRange(0, 7 * 24 * 3600);
    seconds_->setSingleStep(60);
    seconds_->setSuffix(tr(" s"));
    seconds_->setGroupSeparatorShown(true);
    tokens_->setRange(0, 1e12);
    tokens_->setDecimals(0);
    tokens_->setSingleStep(100'000);
    tokens_->setGroupSeparatorShown(true);
    cost_->setRange(0, 1e9);
    cost_->setDecimals(2);
    const auto field = [&](QAbstractSpinBox *box, const char *name, const QString &what) {
        box->setObjectName(QLatin1String(name));
        box->setAccessibleName(what);
        if (box != turns_)
            box->setSpecialValueText(tr("no limit"));
    };
    field(turns_, "budget.turns", tr("Turns at most"));
    field(seconds_, "budget.seconds", tr("Seconds at most"));
    field(tokens_, "budget.tokens", tr("Tokens at most"));
    field(cost_, "budget.cost", tr("Cost at most"));
    turns_->setValue(budget.turns);
    seconds_->setValue(static_cast<int>(std::lround(budget.seconds)));
    tokens_->setValue(static_cast<double>(budget.tokens));
    cost_->setValue(budget.cost);

    auto *form = new QFormLayout;
    form->addRow(tr("&Turns:"), turns_);
    form->addRow(tr("T&ime:"), seconds_);
    form->addRow(tr("T&okens:"), tokens_);
    form->addRow(tr("&Cost:"), cost_);
    auto *note = new QLabel(tr("No further turn begins after that. Tokens count prompts and "
                               "answers; the cost goes by the prices in the endpoint's settings."),
                            this);
    note->setWordWrap(true);
    auto *buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel, this);
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    auto *column = new QVBoxLayout(this);
    column->addLayout(form);
    column->addWidget(note);
    column->addWidget(buttons);
    resize(400, sizeHint().height());
}

agent::Budget BudgetDialog::budget() const {
    return {turns_->value(), static_cast<double>(seconds_->value()),
            static_cast<std::int64_t>(tokens_->value()), cost_->value()};
}

} // namespace cuda_agent::widgets
