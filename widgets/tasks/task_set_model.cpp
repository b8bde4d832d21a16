// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/tasks/task_set_model.h"

#include "widgets/base/text.h"
#include "widgets/base/theme.h"

#include <QLocale>
#include <QThread>
#include <QtConcurrent>

#include <algorithm>

namespace cuda_agent::widgets {

TaskSetModel::TaskSetModel(QObject *parent) : QAbstractTableModel(parent) {}

TaskSetModel::~TaskSetModel() {
    stop();
    for (QFuture<void> &reader : readers_)
        reader.waitForFinished();
}

void TaskSetModel::stop() {
    if (stop_)
        *stop_ = true;
    readers_.removeIf([](const QFuture<void> &reader) { return reader.isFinished(); });
}

void TaskSetModel::open(const QString &path) {
    stop();
    beginResetModel();
    path_ = path;
    rows_.clear();
    fields_.clear();
    known_.clear();
    groups_.clear();
    problem_.clear();
    unusable_ = 0;
    endResetModel();
    loading_ = true;
    emit loadingChanged(true);
    auto stopped = std::make_shared<std::atomic<bool>>(false);
    stop_ = stopped;
    // The destructor waits for the reader, so that `this` lives while it posts; what is posted
    // by an earlier reader is known by its own stop flag.
    readers_ << QtConcurrent::run([this, stopped, path] {
        const auto result = readTaskSet(path, *stopped, [&](QVector<TaskRow> rows) {
            QMetaObject::invokeMethod(
                this,
                [this, stopped, rows = std::move(rows)] {
                    if (!*stopped)
                        append(rows);
                },
                Qt::QueuedConnection);
        });
        const QString why = result ? QString() : QString::fromStdString(result.error().message);
        QMetaObject::invokeMethod(
            this,
            [this, stopped, why] {
                if (!*stopped)
                    finished(why);
            },
            Qt::QueuedConnection);
    });
}

void TaskSetModel::append(const QVector<TaskRow> &rows) {
    QStringList fresh;
    for (const TaskRow &row : rows) {
        ++groups_[row.group];
        unusable_ += row.problem.isEmpty() ? 0 : 1;
        for (auto field = row.fields.keyBegin(); field != row.fields.keyEnd(); ++field) {
            if (known_.contains(*field) || fields_.size() + fresh.size() >= mostFields)
                continue;
            known_.insert(*field);
            fresh << *field;
        }
    }
    // Rows first: a sorting proxy that has columns inserted into an empty model does not sort.
    const int first = rowCount();
    beginInsertRows({}, first, first + static_cast<int>(rows.size()) - 1);
    rows_ += rows;
    endInsertRows();
    if (!fresh.isEmpty()) {
        fresh.sort();
        const int column = columnCount();
        beginInsertColumns({}, column, column + static_cast<int>(fresh.size()) - 1);
        fields_ += fresh;
        endInsertColumns();
    }
}

void TaskSetModel::finished(const QString &problem) {
    loading_ = false;
    problem_ = problem;
    emit loadingChanged(false);
}

QStringList TaskSetModel::groups() const {
    QStringList names = groups_.keys();
    names.sort();
    return names;
}

int TaskSetModel::rowCount(const QModelIndex &parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int TaskSetModel::columnCount(const QModelIndex &parent) const {
    return parent.isValid() ? 0 : fixedColumns + static_cast<int>(fields_.size());
}

QVariant TaskSetModel::data(const QModelIndex &index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const TaskRow &row = rows_[index.row()];
    const int column = index.column();
    if (role == Qt::ForegroundRole && !row.problem.isEmpty() &&
        (column == nameColumn || column == problemColumn))
        return Theme::instance().colors().bad;
    if (role == Qt::ToolTipRole) {
        if (!row.problem.isEmpty())
            return row.problem;
        return column == mentionsColumn
                   ? tr("Names in the source behind torch., nn. and F.; not what it computes:\n%1")
                         .arg(row.mentions.join(QStringLiteral(", ")))
                   : data(index, Qt::DisplayRole).toString();
    }
    const bool field = column >= fixedColumns;
    const QVariant value = field ? row.fields.value(fields_[column - fixedColumns]) : QVariant();
    const bool number =
        value.typeId() == QMetaType::Double || value.typeId() == QMetaType::LongLong;
    if (role == Qt::TextAlignmentRole && (column == sizeColumn || number))
        return QVariant(Qt::AlignRight | Qt::AlignVCenter);
    if (role == Qt::AccessibleTextRole && column == nameColumn && !row.problem.isEmpty())
        return tr("%1: %2").arg(row.name, row.problem);
    if (role != Qt::DisplayRole && role != sortRole)
        return {};
    switch (column) {
    case nameColumn:
        return role == sortRole ? row.sortName : row.name;
    case groupColumn:
        return row.group;
    case mentionsColumn:
        return row.mentions.join(QStringLiteral(", "));
    case sizeColumn:
        return role == sortRole ? QVariant(row.size)
                                : QVariant(QLocale().formattedDataSize(row.size, 1));
    case problemColumn:
        return row.problem;
    default:
        break;
    }
    if (role == Qt::DisplayRole && value.typeId() == QMetaType::Double)
        return QLocale().toString(value.toDouble(), 'g', 6);
    return value;
}

QVariant TaskSetModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= columnCount())
        return {};
    if (role == Qt::ToolTipRole && section == mentionsColumn)
        return tr("Names in the source behind torch., nn. and F.; not what it computes");
    if (role != Qt::DisplayRole)
        return {};
    switch (section) {
    case nameColumn:
        return tr("Name");
    case groupColumn:
        return tr("Level / folder");
    case mentionsColumn:
        return tr("Mentions");
    case sizeColumn:
        return tr("Size");
    case problemColumn:
        return tr("Problem");
    default:
        return fields_[section - fixedColumns];
    }
}

TaskSetFilter::TaskSetFilter(TaskSetModel *model, QObject *parent)
    : QSortFilterProxyModel(parent), model_(model) {
    setSourceModel(model);
    setSortRole(TaskSetModel::sortRole);
}

void TaskSetFilter::setText(const QString &text) {
    words_ = text.toCaseFolded().split(u' ', Qt::SkipEmptyParts);
    invalidateRowsFilter();
}

void TaskSetFilter::setGroup(const std::optional<QString> &group) {
    group_ = group;
    invalidateRowsFilter();
}

bool TaskSetFilter::filterAcceptsRow(int row, const QModelIndex &) const {
    const TaskRow &task = model_->row(row);
    if (group_ && task.group != *group_)
        return false;
    return std::all_of(words_.begin(), words_.end(),
                       [&](const QString &word) { return task.searchText.contains(word); });
}

bool TaskSetFilter::lessThan(const QModelIndex &left, const QModelIndex &right) const {
    // The frequent case without a variant's detour.
    if (left.column() == TaskSetModel::nameColumn)
        return model_->row(left.row()).sortName < model_->row(right.row()).sortName;
    const QVariant a = left.data(TaskSetModel::sortRole), b = right.data(TaskSetModel::sortRole);
    const auto number = [](const QVariant &value) {
        return value.typeId() == QMetaType::Double || value.typeId() == QMetaType::LongLong;
    };
    if (number(a) && number(b))
        return a.toDouble() < b.toDouble();
    if (number(a) != number(b)) // numbers first, what is absent last
        return number(a);
    return a.toString() < b.toString();
}

} // namespace cuda_agent::widgets
