// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/listing/listing_maker.h"

#include "core/plan/sources.h"

#include <QElapsedTimer>
#include <QFutureWatcher>
#include <QtConcurrent>

namespace cuda_agent::widgets {

namespace {

MadeListing listingOf(const ListingWish &wish, const std::stop_token &stop) {
    MadeListing made;
    const auto refuse = [&](const std::string &why) {
        made.problem = QString::fromStdString(why);
        return made;
    };
    const auto candidate = plan::candidateOf(wish.files);
    if (!candidate)
        return refuse(candidate.error().message);
    made.sources = candidate->plan.sources();
    const auto sources = plan::sourcesOf(*candidate);
    if (sources.empty())
        return refuse(ListingMaker::tr("The plan launches no kernel of its own").toStdString());
    auto source = std::ranges::find(sources, wish.source, &toolchain::Source::path);
    if (source == sources.end())
        source = sources.begin();
    made.listing.source = source->path;
    made.text = source->text;
    auto listed = toolchain::listingOf(*source, wish.architecture, wish.code, stop);
    if (!listed)
        return refuse(listed.error().message);
    if (const auto *rejection = std::get_if<toolchain::Rejection>(&*listed))
        return refuse(rejection->summary);
    made.listing = std::move(std::get<toolchain::Listing>(*listed));
    return made;
}

} // namespace

void ListingMaker::make(const ListingWish &wish) {
    stop();
    stop_ = std::stop_source();
    busy_ = true;
    auto *watcher = new QFutureWatcher<MadeListing>(this); // dies with this: no late answer
    connect(watcher, &QFutureWatcherBase::finished, this, [this, watcher, number = ++wishes_] {
        watcher->deleteLater();
        if (number != wishes_)
            return;
        busy_ = false;
        Q_EMIT made(watcher->future().takeResult());
    });
    watcher->setFuture(QtConcurrent::run([wish, stop = stop_.get_token()] {
        QElapsedTimer timer;
        timer.start();
        auto made = listingOf(wish, stop);
        made.seconds = static_cast<double>(timer.nsecsElapsed()) * 1e-9;
        return made;
    }));
}

void ListingMaker::stop() {
    stop_.request_stop();
    ++wishes_;
    busy_ = false;
}

} // namespace cuda_agent::widgets
