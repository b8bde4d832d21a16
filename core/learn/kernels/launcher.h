// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace cuda_agent::learn {

/// Compiled kernels that can be started: on a GPU (cudaLauncher), or in tests on the host.
class Launcher {
  public:
    struct Grid {
        std::uint32_t x = 1, y = 1;
    };

    virtual ~Launcher() = default;
    /// How many blocks are at work at once, roughly: what a grid of any size is cut to.
    virtual std::uint32_t blocksAtOnce() const = 0;
    /// Starts `grid` blocks of `threads` threads behind what PyTorch's current stream of the device
    /// holds; `arguments` as cuLaunchKernel's. Any thread may call. Throws c10::Error.
    virtual void launch(const char *entry, Grid grid, std::uint32_t threads,
                        const std::vector<void *> &arguments) const = 0;
};

/// The text of this room's kernels, prelude first, and their names.
const std::string &kernelText();
const std::vector<std::string> &kernelEntries();

/// A cubin of the text for an architecture, "sm_90", by NVRTC in this process, as the text is the
/// project's own. Errors: machine (no NVRTC, an architecture that it does not know).
Result<std::string> compileKernels(const std::map<std::string, std::string> &defines,
                                   const std::string &architecture);

/// Compiles the text for the GPU of this number, as PyTorch counts, and loads it into PyTorch's
/// context. About a second; the result may be used by all threads. Errors: machine (no driver, no
/// NVRTC, a GPU before sm_80).
Result<std::shared_ptr<const Launcher>>
cudaLauncher(const std::map<std::string, std::string> &defines, int device);

} // namespace cuda_agent::learn
