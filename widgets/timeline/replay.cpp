// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/timeline/replay.h"

#include <algorithm>

namespace cuda_agent::widgets {

namespace {
constexpr int tickMs = 16;
} // namespace

Replay::Replay(SessionDocument *document, QObject *parent) : QObject(parent), document_(document) {
    timer_.setInterval(tickMs);
    timer_.setTimerType(Qt::PreciseTimer);
    connect(&timer_, &QTimer::timeout, this, &Replay::tick);
}

void Replay::setSpeed(double factor) {
    speed_ = std::clamp(factor, 0.01, 1000.0);
}

double Replay::gapBefore(std::size_t event) const {
    const auto &events = document_->index().events();
    if (event == 0 || event >= events.size())
        return 0;
    // A clock that was set back makes no gap.
    return std::clamp(events[event].time - events[event - 1].time, 0.0, longestGap);
}

void Replay::play() {
    if (document_->index().size() == 0)
        return;
    if (document_->atEnd())
        seek(0);
    waited_ = 0;
    clock_.start();
    setPlaying(true);
}

void Replay::pause() {
    setPlaying(false);
}

void Replay::toggle() {
    if (playing_)
        pause();
    else
        play();
}

void Replay::setPlaying(bool playing) {
    if (playing == playing_)
        return;
    playing_ = playing;
    if (playing)
        timer_.start();
    else
        timer_.stop();
    emit playingChanged(playing);
}

void Replay::tick() {
    waited_ += double(clock_.restart()) / 1000 * speed_;
    std::size_t cursor = document_->cursor();
    const std::size_t size = document_->index().size();
    while (cursor < size && gapBefore(cursor) <= waited_) {
        waited_ -= gapBefore(cursor);
        ++cursor;
    }
    if (cursor != document_->cursor()) {
        const double waited = waited_;
        seek(cursor);
        waited_ = waited;
    }
    if (document_->atEnd())
        setPlaying(false);
}

void Replay::seek(std::size_t events) {
    waited_ = 0;
    // The cursor goes first: a selected turn that has not begun there could move it.
    document_->setCursor(events);
    document_->selectTurn(0);
}

void Replay::stepEvent(int by) {
    pause();
    const auto cursor = std::ptrdiff_t(document_->cursor());
    seek(std::size_t(std::max<std::ptrdiff_t>(cursor + by, 0)));
}

void Replay::stepTurn(int by) {
    pause();
    const std::size_t cursor = document_->cursor();
    const auto turns = document_->index().turns(document_->index().size());
    if (by > 0) {
        const auto next = std::find_if(turns.begin(), turns.end(),
                                       [&](const TurnRange *turn) { return turn->end > cursor; });
        seek(next == turns.end() ? document_->index().size() : (*next)->end);
        return;
    }
    // The head of a turn is there at its begin + 1.
    const auto before = std::find_if(turns.rbegin(), turns.rend(), [&](const TurnRange *turn) {
        return turn->begin + 1 < cursor;
    });
    seek(before == turns.rend() ? 0 : (*before)->begin + 1);
}

void Replay::toStart() {
    pause();
    seek(0);
}

void Replay::toEnd() {
    pause();
    seek(document_->index().size());
}

void Replay::toTurn(int turn) {
    if (const TurnRange *range = document_->index().turn(turn, document_->index().size())) {
        pause();
        seek(range->end);
    }
}

} // namespace cuda_agent::widgets
