// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/attempts/attempts_model.h"

#include "widgets/base/text.h"

#include <QFont>

#include <algorithm>

namespace cuda_agent::widgets {

namespace {

/// Figures to the right.
QVariant alignment(int column) {
    const bool words = column == AttemptsModel::AttemptColumn ||
                       column == AttemptsModel::StateColumn || column == AttemptsModel::NoteColumn;
    return int((words ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
}

} // namespace

void AttemptsModel::clear(const std::filesystem::path &folder, int attempts) {
    LoadedAttempts none;
    for (int number = 1; number <= attempts; ++number)
        none.attempts.push_back({attemptFolder(folder, number), {}});
    set(std::move(none));
}

void AttemptsModel::set(LoadedAttempts loaded) {
    beginResetModel();
    rows_.clear();
    for (AttemptLog &log : loaded.attempts)
        rows_.push_back({std::move(log), {}});
    outcome_ = std::move(loaded.outcome);
    endResetModel();
}

void AttemptsModel::setRunning(bool running) {
    if (running == running_)
        return;
    running_ = running;
    for (Row &each : rows_)
        each.doing.clear();
    if (running)
        outcome_ = {};
    for (int attempt = 1; attempt <= count(); ++attempt)
        touch(attempt);
}

void AttemptsModel::append(int attempt, const std::vector<session::Event> &events) {
    if (!has(attempt))
        return;
    Row &to = row(attempt);
    for (const session::Event &event : events) {
        // What was read from the file meanwhile does not come twice.
        if (static_cast<std::size_t>(event.sequence) < to.log.index.size())
            continue;
        to.log.index.append(event);
        if (event.type == session::EventType::sessionEnded)
            to.doing.clear();
        else if (to.doing.isEmpty() && running_)
            to.doing = tr("at work");
    }
    touch(attempt);
}

void AttemptsModel::setDoing(int attempt, const QString &what) {
    if (!has(attempt) || !running_ || stateOf(attempt) == State::ended)
        return;
    row(attempt).doing = what;
    touch(attempt);
}

void AttemptsModel::setOutcome(const Json &outcome) {
    outcome_ = outcome;
    for (int attempt = 1; attempt <= count(); ++attempt)
        touch(attempt);
}

const AttemptLog &AttemptsModel::log(int attempt) const {
    return row(attempt).log;
}

QString AttemptsModel::doing(int attempt) const {
    return has(attempt) ? row(attempt).doing : QString();
}

int AttemptsModel::over() const {
    int found = 0;
    for (int attempt = 1; attempt <= count(); ++attempt) {
        const State state = stateOf(attempt);
        found += state == State::ended || state == State::failed;
    }
    return found;
}

void AttemptsModel::touch(int attempt) {
    Q_EMIT dataChanged(index(attempt - 1, 0), index(attempt - 1, ColumnCount - 1));
}

const Json &AttemptsModel::outcomeOf(int attempt) const {
    static const Json nothing;
    for (const Json &each : partOf(outcome_, "attempts"))
        if (static_cast<int>(numberOf(each, "number")) == attempt)
            return each;
    return nothing;
}

AttemptsModel::State AttemptsModel::stateOf(int attempt) const {
    const Row &each = row(attempt);
    if (partOf(outcomeOf(attempt), "error").is_object())
        return State::failed;
    if (!each.doing.isEmpty())
        return State::running;
    const session::State &state = each.log.index.state();
    if (outcome_.is_object() || (state.end && truthOf(*state.end, "complete")))
        return State::ended;
    return each.log.index.size() == 0 ? State::waiting : State::stopped;
}

QString AttemptsModel::stateText(int attempt) const {
    switch (stateOf(attempt)) {
    case State::waiting:
        return running_ ? tr("Waiting") : tr("Not begun");
    case State::running:
        return tr("Running");
    case State::stopped:
        return tr("Stopped");
    case State::failed:
        return tr("Failed");
    case State::ended:
        break;
    }
    return winnerOf(outcome_) == attempt ? tr("Best") : tr("Ended");
}

/// What it is doing, or why it ended.
QString AttemptsModel::note(int attempt) const {
    const Row &each = row(attempt);
    if (!each.doing.isEmpty())
        return each.doing;
    const QString failed = textOf(partOf(outcomeOf(attempt), "error"), "message");
    if (!failed.isEmpty())
        return failed;
    const auto &end = each.log.index.state().end;
    return end ? textOf(*end, "reason") : QString();
}

QString AttemptsModel::text(int attempt, int column) const {
    const SessionIndex &log = row(attempt).log.index;
    const session::State &state = log.state();
    const Json &verdict = state.bestVerdict;
    const bool any = state.bestTurn > 0;
    const auto against = [&](const char *name) {
        const double factor = numberOf(partOf(verdict, "speedup"), name);
        return factor > 0 ? timesText(factor) : QString();
    };
    switch (column) {
    case AttemptColumn:
        return QString::number(attempt);
    case StateColumn:
        return stateText(attempt);
    case TurnsColumn:
        return log.size() > 0 ? QString::number(log.turnCount(log.size())) : QString();
    case TimeColumn:
        return any ? timeText(state.bestSeconds) : QString();
    case EagerColumn:
        return against("eager");
    case CompileColumn:
        return against("compile");
    case RewardColumn:
        return any ? QString::number(static_cast<int>(numberOf(verdict, "reward"))) : QString();
    case NoteColumn:
        return note(attempt);
    default:
        return {};
    }
}

int AttemptsModel::rowCount(const QModelIndex &parent) const {
    return parent.isValid() ? 0 : count();
}

int AttemptsModel::columnCount(const QModelIndex &parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant AttemptsModel::data(const QModelIndex &index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const int attempt = index.row() + 1;
    switch (role) {
    case Qt::DisplayRole:
    case Qt::ToolTipRole:
        return text(attempt, index.column());
    case Qt::TextAlignmentRole:
        return alignment(index.column());
    case Qt::FontRole:
        if (winnerOf(outcome_) == attempt) {
            QFont strong;
            strong.setBold(true);
            return strong;
        }
        return {};
    default:
        return {};
    }
}

QVariant AttemptsModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation == Qt::Horizontal && role == Qt::TextAlignmentRole)
        return alignment(section);
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case AttemptColumn:
        return tr("Attempt");
    case StateColumn:
        return tr("State");
    case TurnsColumn:
        return tr("Turns");
    case TimeColumn:
        return tr("Best Time");
    case EagerColumn:
        return tr("Against Eager");
    case CompileColumn:
        return tr("Against Compile");
    case RewardColumn:
        return tr("Reward");
    case NoteColumn:
        return tr("Now, or Why It Ended");
    default:
        return {};
    }
}

} // namespace cuda_agent::widgets
