// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/device/quarantine.h"

#include <QObject>
#include <QString>

#include <optional>
#include <stop_token>

namespace cuda_agent::widgets {

/// How a try went. (A struct: signals carry no Result.)
struct LiftAnswer {
    QString device;
    Result<bool> lifted; ///< as device::liftAfterProbe
};

/// Tries a device on another thread, as `cuda-agent doctor --lift-quarantine` does, and lifts its
/// quarantine when it is well; one at a time. GUI thread. Its end stops a try under way without
/// waiting for it.
class QuarantineLift : public QObject {
    Q_OBJECT
  public:
    /// `options`: none for this program's own.
    explicit QuarantineLift(std::optional<device::ProbeOptions> options = {},
                            QObject *parent = nullptr)
        : QObject(parent), options_(std::move(options)) {}
    ~QuarantineLift() override { stop_.request_stop(); }

    /// Does nothing while busy.
    void start(const QString &device);
    /// `finished` follows.
    void stop() { stop_.request_stop(); }
    bool busy() const { return busy_; }
    /// The one that is tried, or was.
    const QString &device() const { return device_; }
    /// What a try takes at most, in seconds.
    double patience() const;

  signals:
    void finished(const LiftAnswer &answer);

  private:
    std::optional<device::ProbeOptions> options_;
    std::stop_source stop_;
    QString device_;
    bool busy_ = false;
};

} // namespace cuda_agent::widgets
