// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/attempts/attempts_data.h"

#include <QAbstractTableModel>

namespace cuda_agent::widgets {

/// Attempts at one task, one a row: how each goes and what its best candidate is worth. Holds their
/// logs. GUI thread.
class AttemptsModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column {
        AttemptColumn,
        StateColumn,
        TurnsColumn,
        TimeColumn,
        EagerColumn,
        CompileColumn,
        RewardColumn,
        NoteColumn,
        ColumnCount
    };

    explicit AttemptsModel(QObject *parent = nullptr) : QAbstractTableModel(parent) {}

    /// That many which have not begun.
    void clear(const std::filesystem::path &folder, int attempts);
    void set(LoadedAttempts loaded);
    /// Whether somebody is working on them: then those that have not begun wait.
    void setRunning(bool running);
    void append(int attempt, const std::vector<session::Event> &events);
    /// What is going on in an attempt.
    void setDoing(int attempt, const QString &what);
    /// As attempts.json has it.
    void setOutcome(const Json &outcome);

    const Json &outcome() const { return outcome_; }
    int count() const { return static_cast<int>(rows_.size()); }
    /// How many have come to their end, or failed.
    int over() const;
    /// An attempt that is there: 1 to count().
    const AttemptLog &log(int attempt) const;
    QString doing(int attempt) const;

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  private:
    enum class State { waiting, running, stopped, ended, failed };
    struct Row {
        AttemptLog log;
        QString doing; ///< empty unless somebody works on it
    };
    Row &row(int attempt) { return rows_[static_cast<std::size_t>(attempt) - 1]; }
    const Row &row(int attempt) const { return rows_[static_cast<std::size_t>(attempt) - 1]; }
    bool has(int attempt) const { return attempt >= 1 && attempt <= count(); }
    void touch(int attempt);
    State stateOf(int attempt) const;
    QString stateText(int attempt) const;
    QString note(int attempt) const;
    QString text(int attempt, int column) const;
    /// Of one attempt in the outcome; null when it is not there.
    const Json &outcomeOf(int attempt) const;

    std::vector<Row> rows_;
    Json outcome_;
    bool running_ = false;
};

} // namespace cuda_agent::widgets
