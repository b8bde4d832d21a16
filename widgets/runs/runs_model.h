// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/runs/run_follower.h"

#include <QAbstractTableModel>

namespace cuda_agent::widgets {

/// The runs that are read: check box, name, colour, last step, age of the last write, state.
class RunsModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column { nameColumn, stepColumn, ageColumn, stateColumn, columns };
    static constexpr int checkedAtFirst = 8; ///< later runs start unchecked: colours would repeat

    struct Run {
        RunSummary summary;
        QString name;
        int color = 0; ///< number in Colors::series
        bool checked = true;
    };

    explicit RunsModel(QObject *parent = nullptr);

    /// Adds the run or brings it up to date.
    void update(const RunSummary &summary);
    void remove(const QString &folder);

    const std::vector<Run> &runs() const { return runs_; }
    const Run *find(const QString &folder) const;
    /// Folders of the checked runs, in the order of the list.
    QStringList checked() const;
    void setAllChecked(bool checked);
    /// Ages and states move with the clock: call now and then.
    void refreshAges();

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    bool setData(const QModelIndex &index, const QVariant &value, int role) override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    Qt::ItemFlags flags(const QModelIndex &index) const override;

  signals:
    /// Which runs are drawn, or their names, is another matter now.
    void drawnChanged();

  private:
    void rename();
    QString stateText(const RunSummary &summary) const;
    QString toolTip(const Run &run) const;

    std::vector<Run> runs_; ///< by folder
};

/// "12 s", "5 min", "3 h", "2 d".
QString ageText(double seconds);

} // namespace cuda_agent::widgets
