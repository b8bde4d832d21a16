// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/run/run_reader.h"
#include "widgets/runs/run_follower.h"

#include <QElapsedTimer>
#include <QSet>
#include <QTimer>

#include <map>

namespace cuda_agent::widgets {

/// The part of RunFollower that lives on its thread and holds the values.
class RunWorker : public QObject {
    Q_OBJECT
  public:
    explicit RunWorker(RunFollower *follower);

    void add(const QString &folder);
    void remove(const QString &run);
    void reload(const QString &run);
    void answer(const CurveRequest &request, quint64 number);
    void exportCsv(const QString &file, const QStringList &folders, const QStringList &names,
                   const QStringList &metrics, double smoothing);
    void ask(const QString &run, learn::RunOrder order);
    void setInterval(int milliseconds);

  private:
    struct Run {
        std::unique_ptr<learn::RunReader> reader;
        RunSummary summary;
        QSet<QString> changed;
        bool due = true; ///< may hold unread values
    };

    void poll();
    void readSome();
    void found(const QString &root, const QStringList &runs);
    void summarise(Run &run);
    void tellRollouts(const Run &run);
    Curve curveOf(const Run &run, const CurveRequest &request, qsizetype &without) const;
    bool current(const QString &metric, quint64 number) const;

    RunFollower *follower_; ///< outlives this object's thread
    QTimer poll_, read_;
    QElapsedTimer told_;
    QStringList roots_;
    QSet<QString> removed_;
    std::map<QString, Run> runs_;
    int polls_ = 0;
};

} // namespace cuda_agent::widgets
