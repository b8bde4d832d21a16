// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/verdict/checks_model.h"

#include "widgets/base/text.h"
#include "widgets/base/theme.h"
#include "widgets/verdict/verdict_words.h"

namespace cuda_agent::widgets {

void ChecksModel::setVerdict(const Json &verdict) {
    beginResetModel();
    checks_.clear();
    const Json &checks = partOf(verdict, "checks");
    if (checks.is_array())
        for (const Json &json : checks)
            checks_.push_back({checkName(json), textOf(json, "detail"), evidenceText(json),
                               truthOf(json, "skipped")  ? State::skipped
                               : truthOf(json, "passed") ? State::ok
                                                         : State::failed});
    endResetModel();
}

int ChecksModel::rowCount(const QModelIndex &parent) const {
    return parent.isValid() ? 0 : static_cast<int>(checks_.size());
}

int ChecksModel::columnCount(const QModelIndex &parent) const {
    return parent.isValid() ? 0 : columns;
}

QVariant ChecksModel::data(const QModelIndex &index, int role) const {
    if (!index.isValid())
        return {};
    const Check &check = checks_[static_cast<std::size_t>(index.row())];
    if (role == Qt::DisplayRole) {
        switch (index.column()) {
        case Result:
            return check.state == State::ok       ? tr("✓ ok")
                   : check.state == State::failed ? tr("✗ failed")
                                                  : tr("– skipped");
        case Name:
            return check.name;
        case Detail:
            return check.evidence.isEmpty() ? check.detail : check.evidence;
        }
    }
    if (role == Qt::ToolTipRole)
        return check.detail;
    if (role == Qt::ForegroundRole) {
        const Colors &colors = Theme::instance().colors();
        if (check.state == State::skipped)
            return colors.muted;
        if (check.state == State::failed)
            return colors.bad;
        if (index.column() == Result)
            return colors.good;
    }
    return {};
}

QVariant ChecksModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case Result:
        return tr("Result");
    case Name:
        return tr("Check");
    case Detail:
        return tr("Detail");
    }
    return {};
}

} // namespace cuda_agent::widgets
