// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/skills/skills_model.h"

#include "widgets/base/theme.h"

namespace cuda_agent::widgets {

void SkillsModel::setLibrary(SkillLibrary library) {
    beginResetModel();
    library_ = std::move(library);
    endResetModel();
}

const skills::Skill *SkillsModel::skill(int row) const {
    return row >= 0 && row < rowCount() ? &library_.skills()[static_cast<std::size_t>(row)]
                                        : nullptr;
}

int SkillsModel::rowOf(const std::filesystem::path &folder) const {
    for (int row = 0; row < rowCount(); ++row)
        if (skill(row)->folder == folder)
            return row;
    return -1;
}

int SkillsModel::rowCount(const QModelIndex &parent) const {
    return parent.isValid() ? 0 : static_cast<int>(library_.skills().size());
}

int SkillsModel::columnCount(const QModelIndex &parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant SkillsModel::data(const QModelIndex &index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const skills::Skill &skill = *this->skill(index.row());
    if (role == Qt::ForegroundRole && !skill.usable())
        return QBrush(Theme::instance().colors().bad);
    if (role == Qt::ToolTipRole) {
        QStringList lines{QString::fromStdString(skill.description)};
        for (const std::string &problem : skill.problems)
            lines += QString::fromStdString(problem);
        lines.removeAll(QString());
        return lines.join(QLatin1Char('\n'));
    }
    if (role != Qt::DisplayRole)
        return {};
    switch (index.column()) {
    case NameColumn:
        return QString::fromStdString(skill.name);
    case FromColumn:
        return skill.folder.parent_path() == library_.userFolder() ? tr("Yours") : tr("Built in");
    case StateColumn:
        return !skill.usable()      ? tr("%n problem(s)", nullptr, int(skill.problems.size()))
               : skill.note.empty() ? tr("In use")
                                    : tr("In use, replaces another");
    default:
        return {};
    }
}

QVariant SkillsModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case NameColumn:
        return tr("Skill");
    case FromColumn:
        return tr("From");
    case StateColumn:
        return tr("State");
    default:
        return {};
    }
}

} // namespace cuda_agent::widgets
