// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/synthesis/synthesis_follower.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QtConcurrent>

#include <cmath>

namespace cuda_agent::widgets {

namespace {

constexpr qint64 longestProgress = 1 << 20;

} // namespace

SynthesisFollower::SynthesisFollower(QObject *parent) : QObject(parent) {
    timer_.setInterval(1000);
    soon_.setSingleShot(true);
    soon_.setInterval(50);
    for (QTimer *timer : {&timer_, &soon_})
        connect(timer, &QTimer::timeout, this, &SynthesisFollower::begin);
    connect(&watcher_, &QFileSystemWatcher::directoryChanged, &soon_, qOverload<>(&QTimer::start));
    connect(&looking_, &QFutureWatcher<Look>::finished, this, [this] { take(looking_.result()); });
}

SynthesisFollower::~SynthesisFollower() {
    looking_.waitForFinished();
}

bool SynthesisFollower::isSynthesis(const QString &folder) {
    const QDir dir(folder);
    return QFileInfo(folder).isDir() && (dir.exists(QStringLiteral("synthesis.json")) ||
                                         dir.exists(QStringLiteral("progress.json")));
}

void SynthesisFollower::follow(const QString &folder) {
    if (!watcher_.directories().isEmpty())
        watcher_.removePaths(watcher_.directories());
    folder_ = folder;
    files_ = {};
    progress_.reset();
    rates_.clear();
    text_.clear();
    silentBefore_ = 0;
    if (folder.isEmpty()) {
        timer_.stop();
        soon_.stop();
    } else {
        timer_.start();
        begin();
    }
    emit changed();
}

SynthesisFollower::Look SynthesisFollower::look(const QString &folder) {
    Look result{folder, {}, {}};
    const QDir dir(folder);
    result.files.folder = QFileInfo(folder).isDir();
    if (!result.files.folder)
        return result;
    result.files.crawl = dir.exists(QStringLiteral("crawl.json"));
    result.files.candidates = dir.exists(QStringLiteral("candidates.jsonl"));
    const QFileInfo set(dir.filePath(QStringLiteral("set.jsonl.gz")));
    if (set.isFile())
        result.files.set = set.lastModified();
    QFile file(dir.filePath(QStringLiteral("progress.json")));
    const QFileInfo info(file.fileName());
    if (info.isFile() && info.size() <= longestProgress && file.open(QIODevice::ReadOnly)) {
        result.files.progress = info.lastModified();
        result.text = file.read(longestProgress);
    }
    return result;
}

/// An earlier look that has not come back (a folder on a slow net) is not joined by more.
void SynthesisFollower::begin() {
    if (!folder_.isEmpty() && !looking_.isRunning())
        looking_.setFuture(QtConcurrent::run(&SynthesisFollower::look, folder_));
}

void SynthesisFollower::take(const Look &look) {
    if (look.folder != folder_) { // another one is followed by now
        begin();
        return;
    }
    bool other = look.files != files_;
    files_ = look.files;
    if (files_.folder && watcher_.directories().isEmpty())
        watcher_.addPath(folder_); // it was not there before
    else if (!files_.folder && !watcher_.directories().isEmpty())
        watcher_.removePaths(watcher_.directories());
    if (look.text != text_) {
        text_ = look.text;
        if (auto progress = SynthesisProgress::parse(text_)) {
            progress_ = std::move(progress);
            rates_.add(*progress_);
            other = true;
        }
    }
    const double silent = silentFor();
    other = other || std::floor(silent) != std::floor(silentBefore_);
    silentBefore_ = silent;
    if (other)
        emit changed();
}

double SynthesisFollower::silentFor() const {
    if (!progress_ || progress_->state != SynthesisProgress::State::running ||
        !files_.progress.isValid())
        return 0;
    const double seconds =
        static_cast<double>(files_.progress.msecsTo(QDateTime::currentDateTime())) * 1e-3;
    return seconds >= silence ? seconds : 0;
}

} // namespace cuda_agent::widgets
