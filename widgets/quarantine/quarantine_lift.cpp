// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/quarantine/quarantine_lift.h"

#include "core/judge/faults.h"

#include <QFutureWatcher>
#include <QtConcurrent>

namespace cuda_agent::widgets {

double QuarantineLift::patience() const {
    const auto patience = options_ ? options_->patience : device::ProbeOptions().patience;
    return std::chrono::duration<double>(patience).count();
}

void QuarantineLift::start(const QString &device) {
    if (busy_)
        return;
    stop_ = std::stop_source();
    device_ = device;
    busy_ = true;
    auto *watcher = new QFutureWatcher<Result<bool>>(this); // dies with this: no late answer
    connect(watcher, &QFutureWatcherBase::finished, this, [this, watcher] {
        watcher->deleteLater();
        busy_ = false;
        Q_EMIT finished({device_, watcher->future().takeResult()});
    });
    watcher->setFuture(QtConcurrent::run([name = device.toStdString(), options = options_,
                                          stop = stop_.get_token()]() -> Result<bool> {
        return device::liftAfterProbe(name, options ? *options : judge::probeOptions(), stop);
    }));
}

} // namespace cuda_agent::widgets
