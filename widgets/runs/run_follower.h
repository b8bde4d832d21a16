// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/run/run_reader.h"

#include <QHash>
#include <QMutex>
#include <QObject>
#include <QStringList>
#include <QThread>
#include <QVector>

#include <atomic>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

namespace cuda_agent::widgets {

enum class XAxis { step, time, samples, tokens };

struct MetricSummary {
    QString name;
    qsizetype points = 0;
    qsizetype nonFinite = 0;
    double last = std::numeric_limits<double>::quiet_NaN();
};

/// What a trainer of ours says of its run; empty for runs of other programs.
struct TrainerState {
    learn::RunReader::Life life = learn::RunReader::Life::none;
    std::optional<learn::RunInfo> info;
    std::optional<learn::RunStatus> status;
    std::optional<learn::RunOrder> asked; ///< for, and not answered yet
};

/// The sampled trajectories of a run.
struct Rollouts {
    struct Row {
        learn::RolloutRow row;
        QString folder; ///< of the session
    };
    QString run;
    std::vector<Row> rows;
};

/// What the lists show of a run; the values stay with the follower.
struct RunSummary {
    QString folder;
    QString root; ///< the folder that was added; the run's own or one above it
    double lastStep = std::numeric_limits<double>::quiet_NaN();
    double firstTime = std::numeric_limits<double>::quiet_NaN(); ///< seconds since 1970
    double lastTime = std::numeric_limits<double>::quiet_NaN();
    double lastWrite = std::numeric_limits<double>::quiet_NaN(); ///< of the files
    bool loading = true;
    bool gone = false; ///< the folder or its files
    qsizetype bad = 0; ///< lines and records that were left out
    QStringList problems;
    QVector<MetricSummary> metrics; ///< by name
    std::vector<learn::StageSpan> stages;
    TrainerState trainer;
    QStringList changed; ///< metrics with other values than in the last summary
};

struct CurveRequest {
    QString metric;
    QStringList folders;
    XAxis x = XAxis::step;
    double xUnit = 1;     ///< seconds of one unit of time on the axis
    double smoothing = 0; ///< weight as in `smoothed`
};

/// One run's values of a metric; `x` never falls and all y are finite.
struct Curve {
    QString folder;
    std::vector<double> x, y;   ///< y NaN: the line is broken there, for a stage has no values
    std::vector<double> smooth; ///< empty without smoothing
    std::vector<double> rawX;   ///< `x` once more, for the raw curve beside a smoothed one
    struct Odd {
        double x = 0, value = 0; ///< NaN or infinite
        double y = 0;            ///< of the curve before it, where it can be marked
    };
    std::vector<Odd> odd;
};

struct Curves {
    CurveRequest request;
    std::vector<Curve> curves;
    qsizetype without = 0; ///< values that have no place on this x axis
};

class RunWorker;

/// Reads run folders on a thread of its own and follows them: once a second it looks for new
/// values, every ten seconds for new runs below the folders that were added. Answers arrive as
/// signals on the thread of this object (GUI). A newer request for a metric's curves replaces an
/// older one.
class RunFollower : public QObject {
    Q_OBJECT
  public:
    explicit RunFollower(QObject *parent = nullptr);
    /// Stops reading; waits for the current megabytes.
    ~RunFollower() override;

    /// A run folder or one above run folders. Answered by `added`.
    void add(const QString &folder);
    /// Not read any more, nor found again below its root until that is added again.
    void remove(const QString &run);
    /// Reads all files of the run anew.
    void reload(const QString &run);
    /// Answered by `curvesReady`, unless a newer request of this metric comes.
    void request(const CurveRequest &request);
    /// Writes run, metric, step, time, samples, value and smoothed, one value a line.
    /// `names` are the runs' names in the file. Answered by `exported`.
    void exportCsv(const QString &file, const QStringList &folders, const QStringList &names,
                   const QStringList &metrics, double smoothing);
    /// Asks the run's trainer, here or elsewhere, through its folder. Answered by `asked`.
    void ask(const QString &run, learn::RunOrder order);
    /// Between looks for new values, milliseconds; for tests.
    void setInterval(int milliseconds);

  signals:
    void added(const QString &folder, const QStringList &runs);
    void summaryChanged(const cuda_agent::widgets::RunSummary &summary);
    void rolloutsChanged(const std::shared_ptr<cuda_agent::widgets::Rollouts> &rollouts);
    /// `problem` is empty when the request lies in the folder.
    void asked(const QString &run, const QString &problem);
    void curvesReady(const std::shared_ptr<cuda_agent::widgets::Curves> &curves);
    /// `problem` is empty when the file is whole.
    void exported(const QString &file, qsizetype values, const QString &problem);

  private:
    friend class RunWorker;
    QThread thread_;
    RunWorker *worker_ = nullptr;
    std::atomic<bool> stopping_{false};
    QMutex mutex_;
    QHash<QString, quint64> newest_; ///< request of each metric, under `mutex_`
    quint64 requests_ = 0;
};

} // namespace cuda_agent::widgets
