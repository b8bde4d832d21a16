// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/toolchain/host/abi.h"

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace cuda_agent::toolchain::host {

/// How one kernel is started, as for cuLaunchKernel.
struct LaunchShape {
    std::array<std::uint32_t, 3> grid{1, 1, 1};
    std::array<std::uint32_t, 3> block{1, 1, 1};
    std::uint32_t sharedBytes = 0;
    int threads = 0;         ///< operating-system threads; 0: all this process may use
    std::uint32_t flags = 0; ///< CUDA_AGENT_HOST_... of abi.h
};

struct Entry {
    std::string name;
    int arguments = 0;
    bool fibers = false; ///< it synchronises, so its threads run as fibers
};

/// A kernel library made by the host compiler, loaded into this process: its code runs with all
/// rights of the process, so this belongs into a sandboxed runner.
/// Movable; the library stays loaded until this goes, and must not go during a launch.
class HostModule {
  public:
    /// Errors: machine (not loadable), request (not a kernel library, or of another version).
    static Result<HostModule> open(const std::filesystem::path &library);
    HostModule(HostModule &&other) noexcept;
    HostModule &operator=(HostModule &&other) noexcept;
    ~HostModule();

    const std::vector<Entry> &entries() const { return entries_; }
    const Entry *find(std::string_view name) const;

    /// Runs a kernel to its end on the process's thread pool. `arguments` holds a pointer to each
    /// argument's value. Any thread may call; launches take turns.
    /// Errors: request (no such entry, wrong number of arguments, impossible shape); failed, when
    /// the kernel faults, with the line (divergent barrier, failed assertion, __trap).
    /// A kernel that reads or writes where there is nothing ends the process by a signal.
    Result<void> launch(std::string_view entry, const LaunchShape &shape,
                        const std::vector<void *> &arguments) const;

  private:
    HostModule() = default;
    void *handle_ = nullptr;
    const CudaAgentHostLibrary *library_ = nullptr;
    std::vector<Entry> entries_;
};

} // namespace cuda_agent::toolchain::host
