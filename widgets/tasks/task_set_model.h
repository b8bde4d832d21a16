// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/tasks/task_query.h"
#include "widgets/tasks/task_source.h"

#include <QAbstractTableModel>
#include <QFuture>
#include <QSortFilterProxyModel>
#include <QTimer>

#include <memory>
#include <optional>

namespace cuda_agent::widgets {

/// The tasks of a set, read on a worker thread; rows arrive in stretches. GUI thread, no widgets.
class TaskSetModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column {
        nameColumn,
        groupColumn,
        mentionsColumn,
        sizeColumn,
        problemColumn,
        fixedColumns
    };
    static constexpr int sortRole = Qt::UserRole;
    static constexpr int mostFields = 40; ///< further ones are searched, but are no columns

    explicit TaskSetModel(QObject *parent = nullptr);
    /// Stops reading and waits until it has stopped.
    ~TaskSetModel() override;

    /// Begins to read another set; the earlier one is forgotten.
    void open(const QString &path);
    /// Holds nothing, and reads nothing.
    void clear();
    const QString &path() const { return path_; }
    bool loading() const { return loading_; }
    /// Why the set could not be read whole; empty when it could.
    const QString &problem() const { return problem_; }
    const TaskRow &row(int number) const { return rows_[number]; }
    const QVector<TaskRow> &rows() const { return rows_; }
    /// Some task says something beyond its name, its level and its source.
    bool hasFacts() const { return facts_; }
    /// The column of a field, -1 when no task has it; and the other way round.
    int columnOf(const QString &field) const;
    QString fieldOf(int column) const { return fields_.value(column - fixedColumns); }
    int unusable() const { return unusable_; }
    /// Levels or folders, sorted.
    QStringList groups() const;

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  signals:
    /// Began to read, or came to the end.
    void loadingChanged(bool loading);

  private:
    void forget(const QString &path);
    /// Appends one of the stretches that wait: the event loop serves others between two of them.
    void takeNext();
    void append(const QVector<TaskRow> &rows);
    void finished(const QString &problem);
    void stop();

    QString path_;
    QVector<TaskRow> rows_;
    QStringList fields_;
    QSet<QString> known_;
    QHash<QString, int> groups_;
    QString problem_;
    bool loading_ = false;
    QVector<QVector<TaskRow>> waiting_; ///< read, not yet appended
    std::optional<QString> end_;        ///< the reader has ended: why the set is not whole
    QTimer next_;
    bool facts_ = false;
    int unusable_ = 0;
    std::shared_ptr<std::atomic<bool>> stop_;
    QVector<QFuture<void>> readers_;
};

/// The rows that a query leaves, sorted.
class TaskSetFilter : public QSortFilterProxyModel {
    Q_OBJECT
  public:
    explicit TaskSetFilter(TaskSetModel *model, QObject *parent = nullptr);
    void setQuery(const TaskQuery &query);
    const TaskQuery &query() const { return query_; }

  protected:
    bool filterAcceptsRow(int row, const QModelIndex &parent) const override;
    bool lessThan(const QModelIndex &left, const QModelIndex &right) const override;

  private:
    const QVector<double> &numbers(int column) const;

    TaskSetModel *model_;
    TaskQuery query_;
    /// A column's values as numbers, NaN for others: sorting asks for each of them many times.
    mutable QVector<double> numbers_;
    mutable int numbersOf_ = -1;
};

} // namespace cuda_agent::widgets
