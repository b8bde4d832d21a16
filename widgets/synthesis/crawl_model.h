// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <QAbstractTableModel>
#include <QSortFilterProxyModel>
#include <QVector>

namespace cuda_agent::widgets {

/// An operator that the crawl found.
struct CrawledOperator {
    QString name, source, family, reason;
    bool kept = false;
};

/// The operators of crawl.json (core/synthesis/README.md); entries that are no objects are passed
/// over. Blocks; any thread. Errors: request.
Result<QVector<CrawledOperator>> readCrawl(const QString &file);

/// GUI thread.
class CrawlModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column { nameColumn, keptColumn, sourceColumn, familyColumn, reasonColumn, columns };
    using QAbstractTableModel::QAbstractTableModel;

    void set(const QVector<CrawledOperator> &operators);
    const CrawledOperator &row(int number) const { return rows_[number]; }
    int kept() const { return kept_; }

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  private:
    QVector<CrawledOperator> rows_;
    int kept_ = 0;
};

/// Rows that hold all words, kept or dropped ones or both.
class CrawlFilter : public QSortFilterProxyModel {
    Q_OBJECT
  public:
    enum class Which { all, kept, dropped };
    explicit CrawlFilter(CrawlModel *model, QObject *parent = nullptr);
    void setText(const QString &text);
    void setWhich(Which which);

  protected:
    bool filterAcceptsRow(int row, const QModelIndex &parent) const override;

  private:
    CrawlModel *model_;
    QStringList words_;
    Which which_ = Which::all;
};

} // namespace cuda_agent::widgets
