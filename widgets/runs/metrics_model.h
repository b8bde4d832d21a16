// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractItemModel>
#include <QSet>
#include <QStringList>

#include <memory>
#include <vector>

namespace cuda_agent::widgets {

/// The metrics of all runs, grouped by what stands before the first "/", with check boxes. Those
/// without a "/" come first, in a group without a name. No widgets.
class MetricsModel : public QAbstractItemModel {
    Q_OBJECT
  public:
    struct Metric {
        QString name; ///< whole, with its group
        qsizetype points = 0;
        qsizetype nonFinite = 0;
        bool checked = false;
    };
    enum Column { nameColumn, valuesColumn, columns };
    static constexpr int checkedAtFirst = 4;
    static constexpr int nameRole = Qt::UserRole; ///< the whole name; empty for groups

    explicit MetricsModel(QObject *parent = nullptr);

    /// Makes the model hold exactly these (any order, names unique); check marks are kept, also
    /// for those that come back. While nobody has checked anything, those that tell most of a run
    /// are checked, or the first few where none of them is there.
    void setMetrics(std::vector<Metric> metrics);
    QStringList checked() const;
    void setChecked(const QStringList &names);
    const Metric *find(const QString &name) const;
    QModelIndex indexOf(const QString &name) const;

    QModelIndex index(int row, int column, const QModelIndex &parent = {}) const override;
    QModelIndex parent(const QModelIndex &index) const override;
    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    bool setData(const QModelIndex &index, const QVariant &value, int role) override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    Qt::ItemFlags flags(const QModelIndex &index) const override;

  signals:
    void checkedChanged();

  private:
    struct Group {
        QString name;
        std::vector<Metric> metrics; ///< by name
    };
    Group *groupOf(const QModelIndex &index) const;
    void insert(Metric metric);
    void removeAllBut(const std::vector<Metric> &metrics);
    void checksMoved(int group);

    std::vector<std::unique_ptr<Group>> groups_; ///< by name; a metric's index points to its group
    QSet<QString> remembered_; ///< were checked when they went: a file may be written anew
    bool touched_ = false;     ///< somebody checked or unchecked
};

/// What stands before the first "/", or nothing.
QString groupName(const QString &metric);

} // namespace cuda_agent::widgets
