// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.h"
#include "core/device/device.h"
#include "core/sandbox/sandbox.h"

#include <chrono>
#include <optional>
#include <stop_token>
#include <variant>

namespace cuda_agent::synthesis {

/// A process that did not answer: what a candidate has done to it.
struct Ended {
    enum class Kind { late, memory, died, garbled };
    Kind kind = Kind::died;
    std::string what; ///< one sentence
};

/// A refusal of the process: {"error": ...}.
struct Refusal {
    std::string message;
    bool request = false; ///< the candidate's fault, else the machine's
    bool restart = false; ///< the process cannot go on
};

using Answer = std::variant<Json, Refusal, Ended>;

/// One sandboxed Python process of `maker/`. Not thread-safe. Ends when destroyed.
class MakerProcess {
  public:
    struct Options {
        std::string program;         ///< "propose_main.py" or "filter_main.py"
        device::Info device;         ///< what the sandbox shows
        std::filesystem::path cache; ///< folder of its own for what is compiled; made here
        std::uint64_t hostMemoryBytes = 8ull << 30;
        int threads = 1;
        std::vector<sandbox::Mount> mounts; ///< further ones
    };

    /// Starts it; its first request is the caller's. Errors: machine.
    static Result<MakerProcess> start(const Options &options);

    /// Blocks for one answer. After Ended, and after a Refusal that says so, the process is gone.
    /// Errors: stopped.
    Result<Answer> ask(const Json &request, std::chrono::duration<double> timeout,
                       std::stop_token stop = {});
    bool alive() { return process_ && process_->running(); }
    void end();

  private:
    MakerProcess() = default;
    Ended ended(const Error &error, std::chrono::duration<double> timeout);

    std::optional<sandbox::Process> process_;
    std::uint64_t memoryBytes_ = 0;
    std::string deviceName_;
    bool onGpu_ = false;
};

} // namespace cuda_agent::synthesis
