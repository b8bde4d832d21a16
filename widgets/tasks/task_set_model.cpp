// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/tasks/task_set_model.h"

#include "widgets/base/text.h"
#include "widgets/base/theme.h"
#include "widgets/tasks/set_columns.h"

#include <QLocale>
#include <QThread>
#include <QtConcurrent>

#include <algorithm>
#include <cmath>

namespace cuda_agent::widgets {

namespace {

constexpr int mostStretches = 1000;

} // namespace

TaskSetModel::TaskSetModel(QObject *parent) : QAbstractTableModel(parent) {
    next_.setSingleShot(true);
    connect(&next_, &QTimer::timeout, this, &TaskSetModel::takeNext);
}

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

void TaskSetModel::forget(const QString &path) {
    stop();
    beginResetModel();
    path_ = path;
    waiting_.clear();
    end_.reset();
    rows_.clear();
    fields_.clear();
    known_.clear();
    groups_.clear();
    problem_.clear();
    unusable_ = 0;
    facts_ = false;
    endResetModel();
}

void TaskSetModel::clear() {
    forget({});
    loading_ = false;
    emit loadingChanged(false);
}

void TaskSetModel::open(const QString &path) {
    forget(path);
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
                [this, stopped, rows = std::move(rows)]() mutable {
                    if (*stopped)
                        return;
                    waiting_ << std::move(rows);
                    next_.start(0);
                },
                Qt::QueuedConnection);
        });
        const QString why = result ? QString() : QString::fromStdString(result.error().message);
        QMetaObject::invokeMethod(
            this,
            [this, stopped, why] {
                if (*stopped)
                    return;
                end_ = why;
                next_.start(0);
            },
            Qt::QueuedConnection);
    });
}

void TaskSetModel::takeNext() {
    if (!waiting_.isEmpty())
        append(waiting_.takeFirst());
    if (!waiting_.isEmpty())
        next_.start(0);
    else if (end_)
        finished(*end_);
}

void TaskSetModel::append(const QVector<TaskRow> &rows) {
    QStringList fresh;
    for (const TaskRow &row : rows) {
        ++groups_[row.group];
        unusable_ += row.problem.isEmpty() ? 0 : 1;
        facts_ = facts_ || !row.ops.isEmpty() || !row.split.isEmpty() || !row.dtype.isEmpty() ||
                 !row.source.isEmpty() || row.seconds > 0;
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
    for (const QString &field : fresh) {
        const auto place = std::lower_bound(fields_.begin(), fields_.end(), field, fieldBefore);
        const int column = fixedColumns + static_cast<int>(place - fields_.begin());
        beginInsertColumns({}, column, column);
        fields_.insert(place, field);
        endInsertColumns();
    }
}

int TaskSetModel::columnOf(const QString &field) const {
    const qsizetype place = fields_.indexOf(field);
    return place < 0 ? -1 : fixedColumns + static_cast<int>(place);
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
               : column >= fixedColumns && !isNumber(row.fields.value(fieldOf(column)))
                   ? row.fields.value(fieldOf(column)).toString()
                   : data(index, Qt::DisplayRole).toString();
    }
    const QString field = fieldOf(column);
    const QVariant value = field.isEmpty() ? QVariant() : row.fields.value(field);
    const bool number = isNumber(value);
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
    return role == Qt::DisplayRole ? QVariant(fieldText(field, value))
                                   : fieldSortValue(field, value);
}

QVariant TaskSetModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= columnCount())
        return {};
    if (role == Qt::ToolTipRole && section == mentionsColumn)
        return tr("Names in the source behind torch., nn. and F.; not what it computes");
    if (role == Qt::ToolTipRole && section >= fixedColumns)
        return fieldMeaning(fieldOf(section));
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
        return fieldTitle(fieldOf(section));
    }
}

TaskSetFilter::TaskSetFilter(TaskSetModel *model, QObject *parent)
    : QSortFilterProxyModel(parent), model_(model) {
    setSourceModel(model);
    setSortRole(TaskSetModel::sortRole);
    const auto forget = [this] { numbersOf_ = -1; };
    connect(model, &QAbstractItemModel::modelReset, this, forget);
    connect(model, &QAbstractItemModel::rowsInserted, this, forget);
    connect(model, &QAbstractItemModel::columnsInserted, this, forget);
}

const QVector<double> &TaskSetFilter::numbers(int column) const {
    if (numbersOf_ != column || numbers_.size() != model_->rows().size()) {
        numbers_.clear();
        numbers_.reserve(model_->rows().size());
        const QString field = model_->fieldOf(column);
        for (const TaskRow &row : model_->rows()) {
            const QVariant value =
                column == TaskSetModel::sizeColumn ? QVariant(row.size) : row.fields.value(field);
            numbers_ << (isNumber(value) ? value.toDouble() : TaskRow::none);
        }
        numbersOf_ = column;
    }
    return numbers_;
}

void TaskSetFilter::setQuery(const TaskQuery &query) {
    if (query == query_)
        return;
    query_ = query;
    // Rows that leave or come in thousands of stretches, each told to the view, take seconds.
    if (model_->rowCount() > mostStretches)
        invalidate();
    else
        invalidateRowsFilter();
}

bool TaskSetFilter::filterAcceptsRow(int row, const QModelIndex &) const {
    return query_.accepts(model_->row(row));
}

bool TaskSetFilter::lessThan(const QModelIndex &left, const QModelIndex &right) const {
    // The frequent case without a variant's detour.
    if (left.column() == TaskSetModel::nameColumn)
        return model_->row(left.row()).sortName < model_->row(right.row()).sortName;
    if (left.column() == TaskSetModel::sizeColumn || left.column() >= TaskSetModel::fixedColumns) {
        const QVector<double> &values = numbers(left.column());
        const double a = values[left.row()], b = values[right.row()];
        if (!std::isnan(a) && !std::isnan(b))
            return a < b;
        if (std::isnan(a) != std::isnan(b)) // numbers first, what is absent last
            return std::isnan(b);
    }
    return left.data(TaskSetModel::sortRole).toString() <
           right.data(TaskSetModel::sortRole).toString();
}

} // namespace cuda_agent::widgets
