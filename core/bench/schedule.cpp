// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/bench/schedule.h"

#include <algorithm>

namespace cuda_agent::bench {

namespace {

constexpr double mostOfDevice = 0.85; ///< for an item that may have others beside it
constexpr std::uint64_t factorAgain = 3;

} // namespace

Schedule::Schedule(std::size_t items, Room room, bool foretold)
    : room_(room), items_(items), devices_(room.devices) {
    for (std::size_t item = 0; item < items; ++item) {
        waiting_.push_back(item);
        if (!foretold)
            items_[item].bytes = room_.memory / room_.perDevice;
    }
}

void Schedule::changed() {
    ++changes_;
    changed_.notify_all();
}

void Schedule::need(std::size_t item, const Need &need) {
    const std::lock_guard lock(mutex_);
    const auto most = static_cast<std::uint64_t>(mostOfDevice * static_cast<double>(room_.memory));
    items_[item].bytes = std::min(need.bytes.value_or(room_.memory / room_.perDevice), most);
    items_[item].takesLong = need.takesLong;
    changed();
}

std::size_t Schedule::mostLarge() const {
    return std::max<std::size_t>(2, room_.perDevice / 3);
}

bool Schedule::goesBefore(const Item &a, const Item &b, const Device &device) const {
    if (a.alone != b.alone)
        return b.alone; // when nothing else is left, which it would keep waiting
    if (const bool large = isLarge(*a.bytes);
        large != isLarge(*b.bytes) && device.begunLarge >= mostLarge())
        return !large;
    if (a.takesLong != b.takesLong && !isLarge(*a.bytes) && !isLarge(*b.bytes))
        return a.takesLong;
    return *a.bytes > *b.bytes;
}

std::optional<Schedule::Turn> Schedule::next(std::size_t device, std::stop_token stop) {
    std::unique_lock lock(mutex_);
    auto &here = devices_[device];
    while (!stop.stop_requested() && (!waiting_.empty() || begun_ > 0)) {
        auto chosen = waiting_.end();
        for (auto at = waiting_.begin(); here.begun < room_.perDevice && at != waiting_.end(); ++at)
            if (items_[*at].bytes &&
                (chosen == waiting_.end() || goesBefore(items_[*at], items_[*chosen], here)))
                chosen = at;
        if (chosen != waiting_.end()) {
            const auto &item = items_[*chosen];
            const Turn turn{*chosen, device, item.alone ? room_.memory : *item.bytes, item.alone};
            waiting_.erase(chosen);
            ++begun_;
            ++here.begun;
            if (isLarge(turn.bytes)) {
                ++here.begunLarge;
                here.largeWaiting.insert(turn.bytes);
            }
            return turn;
        }
        changed_.wait(lock, stop, [this, seen = changes_] { return changes_ != seen; });
    }
    return std::nullopt;
}

bool Schedule::hasRoom(const Turn &turn, const Device &device) const {
    if (turn.alone)
        return device.running == 0;
    if (device.alone || turn.bytes > room_.memory - device.taken)
        return false;
    const auto kept = device.largeWaiting.empty() ? 0 : *device.largeWaiting.rbegin();
    return isLarge(turn.bytes) || device.takenBySmall + turn.bytes + kept <= room_.memory;
}

Result<void> Schedule::waitForRoom(Turn &turn, std::stop_token stop) {
    std::unique_lock lock(mutex_);
    auto &here = devices_[turn.device];
    while (!turn.hasRoom) {
        if (stop.stop_requested())
            return stoppedError();
        if (!hasRoom(turn, here)) {
            changed_.wait(lock, stop, [this, seen = changes_] { return changes_ != seen; });
            continue;
        }
        turn.hasRoom = true;
        ++here.running;
        here.taken += turn.bytes;
        here.alone = turn.alone;
        if (isLarge(turn.bytes))
            here.largeWaiting.erase(here.largeWaiting.find(turn.bytes));
        else
            here.takenBySmall += turn.bytes;
        changed();
    }
    return {};
}

void Schedule::leave(const Turn &turn) {
    auto &here = devices_[turn.device];
    const bool large = isLarge(turn.bytes);
    --begun_;
    --here.begun;
    here.begunLarge -= large ? 1 : 0;
    if (turn.hasRoom) {
        --here.running;
        here.taken -= turn.bytes;
        here.takenBySmall -= large ? 0 : turn.bytes;
        here.alone = false;
    } else if (large) {
        here.largeWaiting.erase(here.largeWaiting.find(turn.bytes));
    }
    changed();
}

void Schedule::end(const Turn &turn) {
    const std::lock_guard lock(mutex_);
    leave(turn);
}

void Schedule::again(const Turn &turn) {
    const std::lock_guard lock(mutex_);
    auto &item = items_[turn.item];
    const double most = mostOfDevice * static_cast<double>(room_.memory);
    item.alone = static_cast<double>(turn.bytes) * factorAgain >= most;
    item.bytes = turn.bytes * factorAgain;
    waiting_.push_back(turn.item);
    leave(turn);
}

} // namespace cuda_agent::bench
