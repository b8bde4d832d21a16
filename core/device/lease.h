// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/file_lock.h"
#include "core/base/result.h"
#include "core/device/device.h"

#include <chrono>
#include <optional>
#include <stop_token>

namespace cuda_agent::device {

/// Use of a device, across processes of this user (file locks in the cache folder; the kernel
/// frees them when a process dies). Who times something takes the device alone; who only works on
/// it, such as the oracle or a verification, shares it with others that do, and is kept out while
/// somebody times or waits to: all who wait to time do so one after the other, as each change from
/// sharing to timing costs the wait for the longest piece of shared work. They cannot keep the
/// device for ever, as whoever times has to work between two times. A thread that shares must let
/// go before it takes or shares again: two that share would wait for ever.
class Lease {
  public:
    /// Alone, for timing. Blocks until nobody else has it. Errors: machine, stopped.
    static Result<Lease> take(const Info &info, std::stop_token stop = {});
    /// Alone, when nobody else has it at this moment. Errors: machine.
    static Result<std::optional<Lease>> tryTake(const Info &info);
    /// Together with others that share. Blocks while somebody has it alone. Errors: as take().
    static Result<Lease> share(const Info &info, std::stop_token stop = {});

    /// Whether somebody waits for the device alone; for whoever shares it now. Errors: machine.
    static Result<bool> awaited(const Info &info);

  private:
    Lease(FileLock lock, FileLock claim, FileLock steps)
        : lock_(std::move(lock)), claim_(std::move(claim)), steps_(std::move(steps)) {}
    FileLock lock_;  ///< on the device: exclusive, or shared
    FileLock claim_; ///< of who has the device alone, or waits to; empty for who shares it
    FileLock steps_; ///< likewise: keeps those out who work in steps (Steps)
};

/// A share that one thread takes and leaves several times in the course of its work. Left when it
/// is destroyed. Not thread-safe. Errors: machine, stopped.
class Share {
  public:
    explicit Share(Info info, std::stop_token stop = {})
        : info_(std::move(info)), stop_(std::move(stop)) {}
    /// Nothing to do where it is held.
    Result<void> take();
    void leave() { lease_.reset(); }
    /// Between two pieces of work: lets those have the device who wait to have it alone, so that
    /// they need not wait for the whole of it. Not where it was taken less than `brief` ago: what
    /// works in many short steps would wait for all timers at each. Takes the share where it is not
    /// held.
    Result<void> step();
    static constexpr std::chrono::milliseconds brief{200};

  private:
    Info info_;
    std::stop_token stop_;
    std::optional<Lease> lease_;
    std::chrono::steady_clock::time_point taken_; ///< of `lease_`
};

/// Work on a device in steps of some milliseconds each, as the passes of a model that writes.
/// Whoever wants to time waits for what is shared first, which may take long, and for the step
/// then: steps go on until it is the only thing in the way, and between two times. One thread.
/// Errors: machine, stopped.
class Steps {
  public:
    explicit Steps(Info info, std::stop_token stop = {})
        : info_(std::move(info)), stop_(std::move(stop)) {}
    /// Before each step; blocks while somebody times. The device is used from here on.
    Result<void> next();
    /// It is not, until the next step.
    void leave();

  private:
    Info info_;
    std::stop_token stop_;
    FileLock device_, steps_; ///< files, open from the first step on
    bool held_ = false;       ///< `steps_`
};

/// Leave to open a GPU in a new process, across processes of this user as above. The driver opens,
/// allocates and maps under one lock for all GPUs of the machine: more who open at once take as
/// long together, and who has its GPU open already waits behind all of them for a buffer.
class OpeningTurn {
  public:
    /// Blocks while as many as it makes sense for are opening. Errors: machine, stopped.
    static Result<OpeningTurn> take(std::stop_token stop = {});

  private:
    explicit OpeningTurn(FileLock lock) : lock_(std::move(lock)) {}
    FileLock lock_;
};

} // namespace cuda_agent::device
