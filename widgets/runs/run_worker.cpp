// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/runs/run_worker.h"

#include "widgets/runs/smoothing.h"
#include "widgets/tasks/csv_text.h"

#include <QDir>
#include <QFileInfo>
#include <QSaveFile>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace cuda_agent::widgets {
namespace {

constexpr int pollsPerSearch = 10;
constexpr std::size_t bytesAtOnce = 2u << 20; ///< requests are answered in between

QString pathText(const std::filesystem::path &path) {
    return QString::fromStdString(path.string());
}

} // namespace

RunWorker::RunWorker(RunFollower *follower) : follower_(follower), poll_(this), read_(this) {
    poll_.setInterval(1000);
    read_.setSingleShot(true);
    connect(&poll_, &QTimer::timeout, this, &RunWorker::poll);
    connect(&read_, &QTimer::timeout, this, &RunWorker::readSome);
}

void RunWorker::setInterval(int milliseconds) {
    poll_.setInterval(milliseconds);
}

void RunWorker::add(const QString &folder) {
    QStringList runs;
    for (const auto &run : learn::findRunFolders(folder.toStdString())) {
        runs << pathText(run);
        removed_.remove(runs.back());
    }
    if (!roots_.contains(folder) && QFileInfo(folder).isDir())
        roots_ << folder;
    emit follower_->added(folder, runs);
    found(folder, runs);
    poll_.start();
}

void RunWorker::found(const QString &root, const QStringList &runs) {
    for (const QString &folder : runs) {
        if (removed_.contains(folder) || runs_.contains(folder))
            continue;
        Run run;
        run.reader = std::make_unique<learn::RunReader>(folder.toStdString());
        run.summary.folder = folder;
        run.summary.root = root;
        summarise(runs_[folder] = std::move(run));
    }
    read_.start(0);
}

void RunWorker::remove(const QString &run) {
    runs_.erase(run);
    removed_.insert(run);
    const auto held = [&](const QString &root) {
        return std::any_of(runs_.begin(), runs_.end(),
                           [&](const auto &entry) { return entry.second.summary.root == root; });
    };
    roots_.removeIf([&](const QString &root) { return !held(root); });
}

void RunWorker::reload(const QString &run) {
    const auto place = runs_.find(run);
    if (place == runs_.end())
        return;
    for (const auto &[name, unused] : place->second.reader->metrics().metrics())
        place->second.changed.insert(QString::fromStdString(name));
    place->second.reader = std::make_unique<learn::RunReader>(run.toStdString());
    place->second.due = true;
    read_.start(0);
}

void RunWorker::poll() {
    if (++polls_ % pollsPerSearch == 0)
        for (const QString &root : QStringList(roots_)) {
            QStringList runs;
            for (const auto &run : learn::findRunFolders(root.toStdString()))
                runs << pathText(run);
            found(root, runs);
        }
    for (auto &[folder, run] : runs_)
        run.due = true;
    read_.start(0);
}

/// A few megabytes of one run, then back to the event loop.
void RunWorker::readSome() {
    for (auto &[folder, run] : runs_) {
        if (!run.due || follower_->stopping_)
            continue;
        const bool first = run.summary.loading;
        const learn::MetricsStore &store = run.reader->metrics();
        const bool had = store.hasFiles();
        const std::size_t bad = store.badCount();
        const double written = store.lastWrite();
        const learn::RunReader::Change all = run.reader->read(bytesAtOnce);
        const learn::MetricsStore::Change &change = all.metrics;
        run.due = change.more;
        run.summary.loading = change.more && (first || change.restarted);
        if (change.restarted)
            for (const MetricSummary &metric : run.summary.metrics)
                run.changed.insert(metric.name);
        for (const std::string &metric : change.metrics)
            run.changed.insert(QString::fromStdString(metric));
        // A long file is told about now and then while it is read.
        const bool tell = first || all.state || change.any() || had != store.hasFiles() ||
                          bad != store.badCount() || !(written == store.lastWrite());
        if (change.more ? !told_.isValid() || told_.hasExpired(250) : tell || !run.changed.empty())
            summarise(run);
        if (all.rollouts)
            tellRollouts(run);
        read_.start(0);
        return;
    }
}

void RunWorker::summarise(Run &run) {
    const learn::MetricsStore &store = run.reader->metrics();
    RunSummary &summary = run.summary;
    summary.lastStep = store.lastStep();
    summary.firstTime = store.firstTime();
    summary.lastTime = store.lastTime();
    summary.lastWrite = store.lastWrite();
    summary.gone = !summary.loading && !store.hasFiles();
    summary.bad = static_cast<qsizetype>(store.badCount());
    summary.problems.clear();
    for (const std::string &problem : store.problems())
        summary.problems << QString::fromStdString(problem);
    summary.stages = store.stages();
    summary.trainer.life = run.reader->life();
    summary.trainer.info = run.reader->info();
    summary.trainer.status = run.reader->status();
    summary.trainer.asked =
        run.reader->openRequest() ? std::optional(run.reader->openRequest()->order) : std::nullopt;
    if (!run.reader->problem().empty())
        summary.problems << QString::fromStdString(run.reader->problem());
    if (!run.reader->rollouts().problem().empty())
        summary.problems << QString::fromStdString(run.reader->rollouts().problem());
    summary.metrics.clear();
    for (const auto &[name, column] : store.metrics())
        if (column.size() > 0)
            summary.metrics.push_back(
                {QString::fromStdString(name), static_cast<qsizetype>(column.size()),
                 static_cast<qsizetype>(column.nonFinite), column.value.back()});
    summary.changed = run.changed.values();
    run.changed.clear();
    told_.start();
    emit follower_->summaryChanged(summary);
}

void RunWorker::tellRollouts(const Run &run) {
    auto told = std::make_shared<Rollouts>();
    told->run = run.summary.folder;
    for (const learn::RolloutRow &row : run.reader->rollouts().rows())
        told->rows.push_back({row, pathText(run.reader->rollouts().sessionFolder(row))});
    emit follower_->rolloutsChanged(told);
}

void RunWorker::ask(const QString &run, learn::RunOrder order) {
    const auto asked = learn::askRun(run.toStdString(), order);
    emit follower_->asked(run, asked ? QString() : QString::fromStdString(asked.error().message));
    if (const auto place = runs_.find(run); place != runs_.end())
        place->second.due = true;
    read_.start(0);
}

bool RunWorker::current(const QString &metric, quint64 number) const {
    const QMutexLocker lock(&follower_->mutex_);
    return !follower_->stopping_ && follower_->newest_.value(metric) == number;
}

void RunWorker::answer(const CurveRequest &request, quint64 number) {
    auto reply = std::make_shared<Curves>();
    reply->request = request;
    for (const QString &folder : request.folders) {
        if (!current(request.metric, number))
            return;
        const auto run = runs_.find(folder);
        if (run != runs_.end())
            reply->curves.push_back(curveOf(run->second, request, reply->without));
    }
    emit follower_->curvesReady(reply);
}

Curve RunWorker::curveOf(const Run &run, const CurveRequest &request, qsizetype &without) const {
    Curve curve;
    curve.folder = run.summary.folder;
    const auto found = run.reader->metrics().metrics().find(request.metric.toStdString());
    if (found == run.reader->metrics().metrics().end())
        return curve;
    const learn::MetricSeries &column = found->second;
    // Smoothed in the order of steps, whatever the axis.
    const auto breaks = breaksOf(column, run.reader->metrics().stages());
    const std::vector<double> smooth = request.smoothing > 0
                                           ? smoothed(column.value, request.smoothing, breaks)
                                           : std::vector<double>();
    const double start = run.reader->metrics().firstTime();
    const auto place = [&](std::size_t i) {
        switch (request.x) {
        case XAxis::time:
            return (column.time[i] - start) / request.xUnit;
        case XAxis::samples:
            return column.samples[i];
        case XAxis::tokens:
            return column.tokens[i];
        case XAxis::step:
            break;
        }
        return column.step[i];
    };
    std::vector<double> x(column.size());
    for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = place(i);
    std::vector<std::size_t> order(x.size());
    std::iota(order.begin(), order.end(), 0);
    std::erase_if(order, [&](std::size_t i) { return !std::isfinite(x[i]); });
    without += static_cast<qsizetype>(x.size() - order.size());
    const auto before = [&](std::size_t a, std::size_t b) { return x[a] < x[b]; };
    if (!std::is_sorted(order.begin(), order.end(), before))
        std::stable_sort(order.begin(), order.end(), before);
    curve.x.reserve(order.size());
    curve.y.reserve(order.size());
    std::size_t early = 0; // odd values before the first finite one
    auto broken = breaks.begin();
    for (const std::size_t i : order) {
        if (std::isfinite(column.value[i])) {
            // A point that is none breaks the line, once for all breaks since the last one.
            const bool gap = broken != breaks.end() && *broken <= i;
            while (broken != breaks.end() && *broken <= i)
                ++broken;
            if (gap && !curve.x.empty()) {
                curve.x.push_back((curve.x.back() + x[i]) / 2);
                curve.y.push_back(std::numeric_limits<double>::quiet_NaN());
                if (!smooth.empty())
                    curve.smooth.push_back(curve.y.back());
            }
            curve.x.push_back(x[i]);
            curve.y.push_back(column.value[i]);
            if (!smooth.empty())
                curve.smooth.push_back(smooth[i]);
            continue;
        }
        const auto &shown = smooth.empty() ? curve.y : curve.smooth;
        early += shown.empty() ? 1 : 0;
        curve.odd.push_back({x[i], column.value[i], shown.empty() ? 1 : shown.back()});
    }
    if (!curve.smooth.empty())
        curve.rawX = curve.x;
    if (!curve.y.empty())
        for (std::size_t i = 0; i < early; ++i)
            curve.odd[i].y = smooth.empty() ? curve.y.front() : curve.smooth.front();
    return curve;
}

void RunWorker::exportCsv(const QString &file, const QStringList &folders, const QStringList &names,
                          const QStringList &metrics, double smoothing) {
    QSaveFile out(file);
    if (!out.open(QIODevice::WriteOnly)) {
        emit follower_->exported(file, 0, out.errorString());
        return;
    }
    out.write("run,metric,step,time,samples,value,smoothed\n");
    qsizetype values = 0;
    for (qsizetype i = 0; i < folders.size() && i < names.size(); ++i) {
        const auto run = runs_.find(folders[i]);
        if (run == runs_.end())
            continue;
        for (const QString &metric : metrics) {
            const auto found = run->second.reader->metrics().metrics().find(metric.toStdString());
            if (found == run->second.reader->metrics().metrics().end())
                continue;
            const learn::MetricSeries &column = found->second;
            const std::vector<double> smooth = smoothed(
                column.value, smoothing, breaksOf(column, run->second.reader->metrics().stages()));
            const QByteArray head =
                csvField(names[i]).toUtf8() + ',' + csvField(metric).toUtf8() + ',';
            QByteArray text;
            for (std::size_t j = 0; j < column.size(); ++j, ++values) {
                text += head + csvNumber(column.step[j]) + ',' + csvNumber(column.time[j], true) +
                        ',' + csvNumber(column.samples[j], true) + ',' +
                        csvNumber(column.value[j]) + ',' + csvNumber(smooth[j]) + '\n';
                if (text.size() > 1 << 20) {
                    out.write(text);
                    text.clear();
                }
                if (follower_->stopping_)
                    return; // QSaveFile leaves what was there
            }
            out.write(text);
        }
    }
    const bool done = out.commit();
    emit follower_->exported(file, values, done ? QString() : out.errorString());
}

} // namespace cuda_agent::widgets
