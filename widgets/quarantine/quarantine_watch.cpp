// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/quarantine/quarantine_watch.h"

#include <QDateTime>
#include <QFileInfo>
#include <QFileSystemWatcher>
#include <QLocale>
#include <QTimer>

#include <algorithm>
#include <tuple>

namespace cuda_agent::widgets {

namespace {

constexpr int settles = 100;    ///< milliseconds, for files that come and go together
constexpr int everySoOften = 4; ///< seconds between looks that nothing asked for

bool same(const device::Quarantine &a, const device::Quarantine &b) {
    return std::tie(a.device, a.reason, a.time) == std::tie(b.device, b.reason, b.time);
}

QString nameOf(const device::Quarantine &quarantine) {
    return QString::fromStdString(quarantine.device);
}

} // namespace

QuarantineWatch::QuarantineWatch(QObject *parent)
    : QObject(parent), list_(device::quarantines()), watcher_(new QFileSystemWatcher(this)),
      soon_(new QTimer(this)) {
    soon_->setSingleShot(true);
    soon_->setInterval(settles);
    connect(soon_, &QTimer::timeout, this, &QuarantineWatch::refresh);
    connect(watcher_, &QFileSystemWatcher::directoryChanged, soon_, qOverload<>(&QTimer::start));
    auto *slowly = new QTimer(this);
    connect(slowly, &QTimer::timeout, this, &QuarantineWatch::refresh);
    slowly->start(everySoOften * 1000);
    watch();
}

/// The folder comes with the first quarantine: until then the one above it is watched.
void QuarantineWatch::watch() {
    const auto folder = device::quarantineFolder();
    for (const auto &each : {folder, folder.parent_path()}) {
        const QString path = QString::fromStdString(each.string());
        if (QFileInfo(path).isDir() && !watcher_->directories().contains(path))
            watcher_->addPath(path);
    }
}

bool QuarantineWatch::concerns(const QString &kind) const {
    return std::ranges::any_of(
        list_, [&](const auto &each) { return each.device.starts_with(kind.toStdString()); });
}

void QuarantineWatch::refresh() {
    watch();
    auto now = device::quarantines();
    if (std::ranges::equal(now, list_, same))
        return;
    list_ = std::move(now);
    Q_EMIT changed();
}

QString sinceText(const device::Quarantine &quarantine) {
    if (!(quarantine.time > 0) || quarantine.time > 1e11)
        return QuarantineWatch::tr("an unknown time");
    const auto when = QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(quarantine.time * 1000));
    return QLocale().toString(when, QLocale::ShortFormat);
}

QString noticeText(const device::Quarantine &quarantine) {
    return QuarantineWatch::tr("%1 is in quarantine since %2: %3. Nothing runs on it until it has "
                               "been tried and is well.")
        .arg(nameOf(quarantine), sinceText(quarantine), QString::fromStdString(quarantine.reason));
}

QString refusedText(const device::Quarantine &quarantine) {
    return QuarantineWatch::tr("%1 is in quarantine since %2 (%3), and nothing runs on it. Try the "
                               "device and lift its quarantine, or choose another device.")
        .arg(nameOf(quarantine), sinceText(quarantine), QString::fromStdString(quarantine.reason));
}

std::optional<device::Quarantine> quarantineBehind(const QString &text) {
    for (auto &each : device::quarantines()) {
        const auto refused = device::checkNotQuarantined(each.device);
        if (!refused && text.contains(QString::fromStdString(refused.error().message)))
            return std::move(each);
    }
    return std::nullopt;
}

} // namespace cuda_agent::widgets
