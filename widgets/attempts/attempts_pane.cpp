// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/attempts/attempts_pane.h"

#include "widgets/attempts/attempts_model.h"

#include <QHeaderView>
#include <QTreeView>

namespace cuda_agent::widgets {

AttemptsPane::AttemptsPane(AttemptsModel *model, QWidget *parent)
    : QWidget(parent), model_(model), view_(new QTreeView(this)), summary_(new QLabel(this)) {
    view_->setModel(model_);
    view_->setObjectName(QStringLiteral("attempts.table"));
    view_->setAccessibleName(tr("Attempts"));
    view_->setRootIsDecorated(false);
    view_->setUniformRowHeights(true);
    view_->setAllColumnsShowFocus(true);
    view_->setTextElideMode(Qt::ElideRight);
    view_->setFrameShape(QFrame::NoFrame);
    QHeaderView *header = view_->header();
    header->setStretchLastSection(true);
    header->setSectionsMovable(false);
    for (int column = 0; column < AttemptsModel::NoteColumn; ++column)
        view_->setColumnWidth(
            column,
            std::max(fontMetrics().horizontalAdvance(
                         model_->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString()),
                     fontMetrics().horizontalAdvance(QStringLiteral("888.8 ms"))) +
                32);
    summary_->setObjectName(QStringLiteral("attempts.summary"));
    summary_->setWordWrap(true);
    summary_->setContentsMargins(8, 3, 8, 3);
    summary_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(view_, 1);
    column->addWidget(summary_);
    connect(view_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex &now) {
                if (now.isValid() && now.row() + 1 != shown_)
                    Q_EMIT attemptChosen(now.row() + 1);
            });
    connect(model_, &QAbstractItemModel::modelReset, this, &AttemptsPane::refresh);
    connect(model_, &QAbstractItemModel::dataChanged, this, &AttemptsPane::refresh);
    refresh();
}

void AttemptsPane::setShown(int attempt) {
    shown_ = attempt;
    if (attempt >= 1 && attempt <= model_->count())
        view_->setCurrentIndex(model_->index(attempt - 1, 0));
}

void AttemptsPane::setStatus(const QString &text) {
    status_ = text;
    refresh();
}

QString AttemptsPane::summary() const {
    return summary_->text();
}

void AttemptsPane::refresh() {
    QStringList lines;
    if (!status_.isEmpty())
        lines += status_;
    if (const QString outcome = outcomeText(model_->outcome()); !outcome.isEmpty())
        lines += outcome;
    const QString text = lines.join(QLatin1Char('\n'));
    if (text != summary_->text())
        summary_->setText(text);
    summary_->setVisible(!text.isEmpty());
}

} // namespace cuda_agent::widgets
