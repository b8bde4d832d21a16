// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/toolchain/host/launch.h"

#include "core/toolchain/host/fiber_block.h"
#include "core/toolchain/host/scheduler.h"

#include <dlfcn.h>

namespace cuda_agent::toolchain::host {

Result<HostModule> HostModule::open(const std::filesystem::path &library) {
    HostModule module;
    module.handle_ = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!module.handle_) {
        const char *why = dlerror();
        return machineError("cannot load the kernel library: {}", why ? why : "unknown reason");
    }
    module.library_ =
        static_cast<const CudaAgentHostLibrary *>(dlsym(module.handle_, "cuda_agent_host_library"));
    if (!module.library_)
        return requestError("{} is not a kernel library", library.string());
    if (module.library_->version != CUDA_AGENT_HOST_ABI)
        return requestError("{} was compiled by another version of this program", library.string());
    for (std::uint32_t i = 0; i < module.library_->count; ++i) {
        const auto &entry = module.library_->entries[i];
        module.entries_.push_back({entry.name, entry.arguments, entry.fibers != 0});
    }
    return module;
}

HostModule::HostModule(HostModule &&other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), library_(other.library_),
      entries_(std::move(other.entries_)) {}

HostModule &HostModule::operator=(HostModule &&other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(library_, other.library_);
    std::swap(entries_, other.entries_);
    return *this;
}

HostModule::~HostModule() {
    if (handle_)
        dlclose(handle_);
}

const Entry *HostModule::find(std::string_view name) const {
    for (const auto &entry : entries_)
        if (entry.name == name)
            return &entry;
    return nullptr;
}

Result<void> HostModule::launch(std::string_view name, const LaunchShape &shape,
                                const std::vector<void *> &arguments) const {
    const Entry *entry = find(name);
    if (!entry)
        return requestError("the kernel library has no entry '{}'", name);
    if (static_cast<int>(arguments.size()) != entry->arguments)
        return requestError("kernel '{}' takes {} arguments, the launch gives {}", name,
                            entry->arguments, arguments.size());
    std::uint64_t threads = 1;
    for (int i = 0; i < 3; ++i) {
        const auto at = static_cast<std::size_t>(i);
        if (shape.grid[at] == 0 || shape.block[at] == 0)
            return requestError("kernel '{}': grid and block must not be zero", name);
        threads *= shape.block[at];
        if (threads > maxBlockThreads)
            return requestError("kernel '{}': a block has more than {} threads", name,
                                maxBlockThreads);
    }
    std::array<char, 1024> message{};
    CudaAgentHostLaunch launch{};
    for (int i = 0; i < 3; ++i) {
        launch.grid[i] = shape.grid[static_cast<std::size_t>(i)];
        launch.block[i] = shape.block[static_cast<std::size_t>(i)];
    }
    launch.sharedBytes = shape.sharedBytes;
    launch.threads = shape.threads;
    launch.arguments = const_cast<void **>(arguments.data());
    launch.message = message.data();
    launch.messageBytes = message.size();
    launch.flags = shape.flags;
    launch.runtime = &hostRuntime();
    if (library_->entries[entry - entries_.data()].launch(&launch) != 0)
        return failedError("kernel '{}': {}", name, message.data());
    return {};
}

} // namespace cuda_agent::toolchain::host
