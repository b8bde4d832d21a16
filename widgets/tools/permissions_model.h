// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractTableModel>

#include <set>
#include <string>
#include <vector>

namespace cuda_agent::widgets {

/// Which tools of the agent wait for the engineer's word, as the settings remember it. None, unless
/// somebody chose some: everything runs in the sandbox. One object; GUI thread.
class ToolPermissions : public QObject {
    Q_OBJECT
  public:
    static ToolPermissions &instance();
    std::set<std::string> asking() const;
    void setAsking(const std::set<std::string> &tools);

  signals:
    void changed();

  private:
    ToolPermissions() = default;
};

/// The agent's tools, one a row, with a check box for those that ask first.
class PermissionsModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column { ToolColumn, PermissionColumn, DescriptionColumn, ColumnCount };

    explicit PermissionsModel(std::set<std::string> asking, QObject *parent = nullptr);

    const std::set<std::string> &asking() const { return asking_; }
    /// All tools that change something, or none.
    void askForChanges();
    void askForNone();

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    bool setData(const QModelIndex &index, const QVariant &value, int role) override;
    Qt::ItemFlags flags(const QModelIndex &index) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  private:
    struct Row {
        std::string name;
        QString description; ///< as the agent reads it
        bool changes = false;
    };
    void set(std::set<std::string> asking);

    std::vector<Row> rows_;
    std::set<std::string> asking_;
};

} // namespace cuda_agent::widgets
