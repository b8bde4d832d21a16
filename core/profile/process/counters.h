// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/runner/backend.h"
#include "core/profile/process/cupti.h"
#include "core/profile/process/flush.h"

namespace cuda_agent::profile::process {

/// What to count.
struct CountRequest {
    int set = 0;
    bool flush = true;                ///< before each pass
    std::size_t kernels = 1;          ///< that a call launches
    std::vector<std::string> metrics; ///< names; those that the chip lacks are left out
};

/// What the host side of CUPTI's profiler makes of a list of metrics for one chip. Needs no GPU.
struct Schedule {
    std::vector<std::string> metrics; ///< that the chip has
    std::vector<std::string> leftOut;
    std::vector<std::uint8_t> config; ///< which counters to collect in which pass
    std::size_t passes = 0;
};

/// The host side for one chip; owned, not thread-safe.
class Host {
  public:
    /// `availability`: what the driver says the machine has; may be empty.
    static Outcome<Host> open(const Cupti &cupti, const std::string &chip,
                              const std::vector<std::uint8_t> &availability);
    Host(Host &&other) noexcept;
    Host &operator=(Host &&) = delete;
    ~Host();

    /// Once an object. `settling`, where it is named and the chip has it, gets the first pass to
    /// itself and is the first of Schedule::metrics.
    Outcome<Schedule> schedule(const std::vector<std::string> &metrics,
                               const std::string &settling = {});
    /// Of one range of a decoded image, by metric. What cannot be evaluated is absent.
    std::map<std::string, double> values(const std::vector<std::string> &metrics,
                                         const std::vector<std::uint8_t> &image,
                                         std::size_t range) const;

  private:
    explicit Host(const Cupti &cupti) : cupti_(&cupti) {}
    bool knows(const std::string &metric) const;
    Outcome<void> add(const std::vector<std::string> &metrics);

    const Cupti *cupti_;
    std::string chip_;
    std::vector<std::uint8_t> availability_; ///< lives as long as the host object
    CUpti_Profiler_Host_Object *object_ = nullptr;
};

/// Counts hardware events of every kernel of a call. The call is repeated once for every pass that
/// the metrics need, and once before; a kernel runs alone while it is
/// counted. In order of preference: a range for
/// each kernel and passes by repeating the whole call (nothing is saved or restored: a plan's call
/// does the same each time); the same with each kernel repeated by CUPTI; a range for each step.
///
/// Metrics over instructions (`_sass_` in the name) are counted after the others, in sessions of
/// their own; when these are refused, the others stand.
///
/// The answer: {"ranges": [{"name", "counters": {metric: value}}], "mode": "kernels, call repeated"
/// | "kernels, kernel repeated" | "steps, call repeated", "passes", "chip", "left_out": [metric],
/// "instructions": "together" | "one by one" | "of other launches, left out",
/// "instructions_refused": refusal}.
Outcome<Json> countCalls(const Cupti &cupti, plan::runner::Backend &backend, CacheFlush &flush,
                         const CountRequest &request);

} // namespace cuda_agent::profile::process
