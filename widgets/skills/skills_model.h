// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/skills/skill_library.h"

#include <QAbstractTableModel>

namespace cuda_agent::widgets {

/// Skills, one a row: usable ones by name, then those with problems.
class SkillsModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column { NameColumn, FromColumn, StateColumn, ColumnCount };

    explicit SkillsModel(QObject *parent = nullptr) : QAbstractTableModel(parent) {}

    void setLibrary(SkillLibrary library);
    const SkillLibrary &library() const { return library_; }
    /// Null for a row that is not there.
    const skills::Skill *skill(int row) const;
    /// -1 when none lies there.
    int rowOf(const std::filesystem::path &folder) const;

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  private:
    SkillLibrary library_;
};

} // namespace cuda_agent::widgets
