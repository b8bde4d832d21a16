// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/tools/permissions_model.h"

#include "core/tools/toolbox.h"

#include <QSettings>
#include <QStringList>

namespace cuda_agent::widgets {

namespace {

QString settingsKey() {
    return QStringLiteral("tools/ask");
}

} // namespace

ToolPermissions &ToolPermissions::instance() {
    static ToolPermissions *const permissions = new ToolPermissions; // outlives its listeners
    return *permissions;
}

std::set<std::string> ToolPermissions::asking() const {
    std::set<std::string> tools;
    for (const QString &name : QSettings().value(settingsKey()).toStringList())
        tools.insert(name.toStdString());
    return tools;
}

void ToolPermissions::setAsking(const std::set<std::string> &tools) {
    if (tools == asking())
        return;
    QStringList names;
    for (const std::string &name : tools)
        names += QString::fromStdString(name);
    QSettings().setValue(settingsKey(), names);
    Q_EMIT changed();
}

PermissionsModel::PermissionsModel(std::set<std::string> asking, QObject *parent)
    : QAbstractTableModel(parent), asking_(std::move(asking)) {
    for (const tools::Tool &tool : tools::allTools())
        rows_.push_back({tool.name, QString::fromStdString(tool.description), tool.changes});
}

void PermissionsModel::set(std::set<std::string> asking) {
    asking_ = std::move(asking);
    Q_EMIT dataChanged(index(0, PermissionColumn), index(rowCount() - 1, PermissionColumn));
}

void PermissionsModel::askForChanges() {
    std::set<std::string> asking;
    for (const Row &row : rows_)
        if (row.changes)
            asking.insert(row.name);
    set(std::move(asking));
}

void PermissionsModel::askForNone() {
    set({});
}

int PermissionsModel::rowCount(const QModelIndex &parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int PermissionsModel::columnCount(const QModelIndex &parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant PermissionsModel::data(const QModelIndex &index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const Row &row = rows_[static_cast<std::size_t>(index.row())];
    const bool asks = asking_.contains(row.name);
    switch (index.column()) {
    case ToolColumn:
        if (role == Qt::DisplayRole)
            return QString::fromStdString(row.name);
        break;
    case PermissionColumn:
        if (role == Qt::DisplayRole)
            return asks ? tr("Ask") : tr("Always");
        if (role == Qt::CheckStateRole)
            return asks ? Qt::Checked : Qt::Unchecked;
        if (role == Qt::AccessibleTextRole)
            return asks ? tr("%1 asks first").arg(QString::fromStdString(row.name))
                        : tr("%1 is always allowed").arg(QString::fromStdString(row.name));
        break;
    case DescriptionColumn:
        if (role == Qt::DisplayRole)
            return row.description.section(QLatin1Char('\n'), 0, 0);
        break;
    default:
        break;
    }
    return role == Qt::ToolTipRole ? row.description : QVariant();
}

bool PermissionsModel::setData(const QModelIndex &index, const QVariant &value, int role) {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid) || index.column() != PermissionColumn ||
        role != Qt::CheckStateRole)
        return false;
    const std::string &name = rows_[static_cast<std::size_t>(index.row())].name;
    if (value.toInt() == Qt::Checked)
        asking_.insert(name);
    else
        asking_.erase(name);
    Q_EMIT dataChanged(index, index);
    return true;
}

Qt::ItemFlags PermissionsModel::flags(const QModelIndex &index) const {
    Qt::ItemFlags flags = QAbstractTableModel::flags(index);
    if (index.isValid())
        flags |= Qt::ItemNeverHasChildren;
    if (index.column() == PermissionColumn)
        flags |= Qt::ItemIsUserCheckable;
    return flags;
}

QVariant PermissionsModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case ToolColumn:
        return tr("Tool");
    case PermissionColumn:
        return tr("Permission");
    case DescriptionColumn:
        return tr("What the agent reads of it");
    default:
        return {};
    }
}

} // namespace cuda_agent::widgets
