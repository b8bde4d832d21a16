// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/device/quarantine.h"

#include <QObject>
#include <QString>

#include <optional>
#include <vector>

class QFileSystemWatcher;
class QTimer;

namespace cuda_agent::widgets {

/// The devices in quarantine, as their files say, kept up to date: by the folder's changes, and
/// every few seconds for file systems that tell none. GUI thread; reads a few small files.
class QuarantineWatch : public QObject {
    Q_OBJECT
  public:
    explicit QuarantineWatch(QObject *parent = nullptr);

    const std::vector<device::Quarantine> &list() const { return list_; }
    /// Whether one of them is of that kind: "cpu" or "cuda".
    bool concerns(const QString &kind) const;

  public slots:
    /// Looks now, such as after a run that the machine ended.
    void refresh();

  signals:
    void changed();

  private:
    void watch();

    std::vector<device::Quarantine> list_;
    QFileSystemWatcher *watcher_;
    QTimer *soon_;
};

/// When a device was put away, in the user's language.
QString sinceText(const device::Quarantine &quarantine);
/// One sentence with reason and time, and what that means.
QString noticeText(const device::Quarantine &quarantine);
/// What to read when work on that device could not begin or go on, and what to do.
QString refusedText(const device::Quarantine &quarantine);
/// The quarantine that the engine's message `text` is about, if it is about one.
std::optional<device::Quarantine> quarantineBehind(const QString &text);

} // namespace cuda_agent::widgets
