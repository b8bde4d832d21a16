// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/kernels/launcher.h"
#include "core/toolchain/compiler.h"
#include "core/toolchain/host/launch.h"

#include <stdexcept>

namespace cuda_agent::learn {

/// The room's kernels on the host: the same text, compiled by the CPU device's compiler and run in
/// this process, as it is the project's own.
class HostLauncher final : public Launcher {
  public:
    /// `blocks`: so few that they have to walk on, or more than the second stage's warps.
    explicit HostLauncher(const std::map<std::string, std::string> &defines,
                          std::uint32_t blocks = 3)
        : blocks_(blocks) {
        const auto compiler = orThrow(toolchain::makeHostCompiler());
        auto outcome = orThrow(
            compiler->compile({"kernels/learn.cu", kernelText(), kernelEntries(), defines, {}}));
        if (const auto *rejection = std::get_if<toolchain::Rejection>(&outcome))
            throw std::runtime_error(rejection->summary + "\n" + rejection->log);
        module_ = std::make_unique<toolchain::host::HostModule>(
            orThrow(toolchain::host::HostModule::open(std::get<toolchain::Binary>(outcome).file)));
    }
    std::uint32_t blocksAtOnce() const override { return blocks_; }
    void launch(const char *entry, Grid grid, std::uint32_t threads,
                const std::vector<void *> &arguments) const override {
        toolchain::host::LaunchShape shape;
        shape.grid = {grid.x, grid.y, 1};
        shape.block = {threads, 1, 1};
        shape.threads = 1;
        if (const auto done = module_->launch(entry, shape, arguments); !done)
            throw std::runtime_error(std::string(entry) + ": " + done.error().message);
    }

  private:
    template <typename Value>
    static Value orThrow(Result<Value> result) {
        if (!result)
            throw std::runtime_error(result.error().message);
        return std::move(*result);
    }
    std::uint32_t blocks_;
    std::unique_ptr<toolchain::host::HostModule> module_;
};

} // namespace cuda_agent::learn
