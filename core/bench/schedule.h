// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <vector>

namespace cuda_agent::bench {

/// Which piece of work begins when, and where: several at a time on each device, each of which
/// waits for its room in the device's memory once it is about to take it. The largest goes first,
/// equal ones in their order. Of large ones, which need more than half of a device, a third of the
/// places have one at a time, so that some make ready while another runs; while one waits for its
/// room, smaller ones take no more than what it will leave. So large ones run beside small ones,
/// not after them. Of the others those that take long go first, so that no few of them are left
/// over at the end. Thread-safe.
class Schedule {
  public:
    struct Turn {
        std::size_t item;
        std::size_t device;
        std::uint64_t bytes; ///< that it waits for
        bool alone;          ///< it will have the device to itself
        bool hasRoom = false;
    };
    struct Room {
        std::size_t devices = 1;
        std::size_t perDevice = 1; ///< items at a time on each, at most
        std::uint64_t memory = 0;  ///< bytes of each that are shared out; 0: none are counted
    };

    struct Need {
        /// nullopt: nobody knows, it is taken for one of `perDevice` equal shares.
        std::optional<std::uint64_t> bytes;
        bool takesLong = false; ///< several times as long as most
    };

    /// Where `foretold`, no item begins before need() was called for it.
    Schedule(std::size_t items, Room room, bool foretold);

    /// What the item needs, before it begins; no more than most of a device counts, so that
    /// another small one finds room beside it.
    void need(std::size_t item, const Need &need);
    /// The next item for that device. Blocks until there is one, or none is left that could become
    /// one: the items of others may come again. nullopt then, or when stopped.
    std::optional<Turn> next(std::size_t device, std::stop_token stop);
    /// Blocks until the device has room for the turn, which then has it; at once where it has.
    /// Errors: stopped.
    Result<void> waitForRoom(Turn &turn, std::stop_token stop);
    /// The item is done with, whether or not it came to have room.
    void end(const Turn &turn);
    /// The item found too little memory: it comes again, with far more, in the end alone.
    void again(const Turn &turn);

  private:
    struct Item {
        std::optional<std::uint64_t> bytes; ///< unknown so far
        bool takesLong = false;
        bool alone = false;
    };
    struct Device {
        std::size_t begun = 0; ///< items, those that wait for their room counted in
        std::size_t begunLarge = 0;
        std::size_t running = 0; ///< items that have room
        std::uint64_t taken = 0;
        std::uint64_t takenBySmall = 0;
        std::multiset<std::uint64_t> largeWaiting; ///< bytes of begun large items without room
        bool alone = false;                        ///< one item has it to itself
    };
    bool isLarge(std::uint64_t bytes) const { return bytes > room_.memory / 2; }
    std::size_t mostLarge() const; ///< begun at a time on a device, where there are others
    bool goesBefore(const Item &a, const Item &b, const Device &device) const;
    bool hasRoom(const Turn &turn, const Device &device) const;
    void leave(const Turn &turn);
    void changed();

    Room room_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::vector<Item> items_;
    std::vector<std::size_t> waiting_; ///< items, in their order
    std::vector<Device> devices_;
    std::size_t begun_ = 0;
    std::uint64_t changes_ = 0; ///< what who waits looks at
};

} // namespace cuda_agent::bench
