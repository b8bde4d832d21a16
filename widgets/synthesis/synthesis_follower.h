// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/synthesis/synthesis_progress.h"

#include <QDateTime>
#include <QFileSystemWatcher>
#include <QFutureWatcher>
#include <QTimer>

namespace cuda_agent::widgets {

/// What lies in a folder of a synthesis.
struct SynthesisFiles {
    bool folder = false, crawl = false, candidates = false;
    QDateTime set;      ///< when set.jsonl.gz was written; invalid when it is not there
    QDateTime progress; ///< when progress.json was
    bool operator==(const SynthesisFiles &) const = default;
};

/// Follows the folder of a synthesis while it runs: looks when the file system says that something
/// changed and once a second. A progress.json that is half written or gone leaves the last one that
/// could be read. GUI thread; files are read on another one.
class SynthesisFollower : public QObject {
    Q_OBJECT
  public:
    static constexpr double silence = 10; ///< seconds after which a running one counts as silent

    explicit SynthesisFollower(QObject *parent = nullptr);
    ~SynthesisFollower() override;

    /// The folder may not be there yet; an empty one follows nothing.
    void follow(const QString &folder);
    const QString &folder() const { return folder_; }
    const SynthesisFiles &files() const { return files_; }
    const std::optional<SynthesisProgress> &progress() const { return progress_; }
    const SynthesisRates &rates() const { return rates_; }
    /// Seconds since a synthesis that says it runs was heard of; 0 for others and below `silence`.
    double silentFor() const;
    void setInterval(int milliseconds) { timer_.setInterval(milliseconds); }

    /// Whether the folder is one of a synthesis, running or not.
    static bool isSynthesis(const QString &folder);

  signals:
    /// Something above is another one.
    void changed();

  private:
    struct Look {
        QString folder;
        SynthesisFiles files;
        QByteArray text;
    };
    static Look look(const QString &folder);
    void begin();
    void take(const Look &look);

    QString folder_;
    SynthesisFiles files_;
    std::optional<SynthesisProgress> progress_;
    SynthesisRates rates_;
    QByteArray text_;
    QTimer timer_, soon_;
    QFileSystemWatcher watcher_;
    QFutureWatcher<Look> looking_;
    double silentBefore_ = 0;
};

} // namespace cuda_agent::widgets
