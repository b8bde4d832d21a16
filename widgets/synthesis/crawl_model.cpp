// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/synthesis/crawl_model.h"

#include "core/base/json.h"
#include "widgets/base/text.h"
#include "widgets/base/theme.h"

#include <algorithm>

namespace cuda_agent::widgets {

Result<QVector<CrawledOperator>> readCrawl(const QString &file) {
    CUDA_AGENT_ASSIGN(json, readJsonFile(file.toStdString()));
    const Json &operators = partOf(json, "operators");
    if (!operators.is_array())
        return requestError("{} has no list \"operators\"; run the synthesis again",
                            file.toStdString());
    QVector<CrawledOperator> rows;
    for (const Json &each : operators)
        if (each.is_object())
            rows.push_back({textOf(each, "name"), textOf(each, "source"), textOf(each, "family"),
                            textOf(each, "reason"), truthOf(each, "kept")});
    return rows;
}

void CrawlModel::set(const QVector<CrawledOperator> &operators) {
    beginResetModel();
    rows_ = operators;
    kept_ = static_cast<int>(std::count_if(rows_.begin(), rows_.end(),
                                           [](const CrawledOperator &row) { return row.kept; }));
    endResetModel();
}

int CrawlModel::rowCount(const QModelIndex &parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int CrawlModel::columnCount(const QModelIndex &parent) const {
    return parent.isValid() ? 0 : columns;
}

QVariant CrawlModel::data(const QModelIndex &index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const CrawledOperator &row = rows_[index.row()];
    if (role == Qt::ForegroundRole && index.column() == keptColumn)
        return row.kept ? Theme::instance().colors().good : Theme::instance().colors().muted;
    if (role != Qt::DisplayRole && role != Qt::ToolTipRole)
        return {};
    switch (index.column()) {
    case nameColumn:
        return row.name;
    case keptColumn:
        return row.kept ? tr("kept") : tr("dropped");
    case sourceColumn:
        return row.source;
    case familyColumn:
        return row.family;
    default:
        return row.reason;
    }
}

QVariant CrawlModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case nameColumn:
        return tr("Operator");
    case keptColumn:
        return tr("Kept");
    case sourceColumn:
        return tr("Source");
    case familyColumn:
        return tr("Family");
    case reasonColumn:
        return tr("Reason");
    default:
        return {};
    }
}

CrawlFilter::CrawlFilter(CrawlModel *model, QObject *parent)
    : QSortFilterProxyModel(parent), model_(model) {
    setSourceModel(model);
    setSortCaseSensitivity(Qt::CaseInsensitive);
}

void CrawlFilter::setText(const QString &text) {
    words_ = text.split(u' ', Qt::SkipEmptyParts);
    invalidateRowsFilter();
}

void CrawlFilter::setWhich(Which which) {
    which_ = which;
    invalidateRowsFilter();
}

bool CrawlFilter::filterAcceptsRow(int number, const QModelIndex &) const {
    const CrawledOperator &row = model_->row(number);
    if (which_ != Which::all && row.kept != (which_ == Which::kept))
        return false;
    return std::all_of(words_.begin(), words_.end(), [&](const QString &word) {
        return row.name.contains(word, Qt::CaseInsensitive) ||
               row.source.contains(word, Qt::CaseInsensitive) ||
               row.family.contains(word, Qt::CaseInsensitive) ||
               row.reason.contains(word, Qt::CaseInsensitive);
    });
}

} // namespace cuda_agent::widgets
