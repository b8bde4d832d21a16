// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/toolchain/compiler.h"
#include "core/toolchain/host/launch.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace cuda_agent::toolchain::test {

/// The compiler of this test program, with a cache folder of its own that lives as long.
inline Compiler &hostCompiler() {
    static const std::unique_ptr<Compiler> compiler = [] {
        static std::string folder =
            (std::filesystem::temp_directory_path() / "cuda-agent-test-XXXXXX").string();
        if (!mkdtemp(folder.data()))
            std::abort();
        setenv("CUDA_AGENT_CACHE", folder.c_str(), 1);
        std::atexit([] { std::filesystem::remove_all(folder); });
        auto made = makeHostCompiler();
        if (!made) {
            fprintf(stderr, "%s\n", made.error().message.c_str());
            std::abort();
        }
        return std::move(*made);
    }();
    return *compiler;
}

inline Outcome compileHost(const std::string &text, std::map<std::string, std::string> defines = {},
                           std::vector<std::string> entries = {}) {
    Source source{"kernels/test.cu", text, std::move(entries), std::move(defines)};
    auto outcome = hostCompiler().compile(source);
    if (!outcome) {
        ADD_FAILURE() << outcome.error().message;
        return Rejection{{}, {}, outcome.error().message};
    }
    return std::move(*outcome);
}

/// A kernel file of the test's own, compiled in the sandbox and loaded into this process.
class Kernels {
  public:
    explicit Kernels(const std::string &text, std::map<std::string, std::string> defines = {}) {
        auto outcome = compileHost(text, std::move(defines));
        if (auto *rejection = std::get_if<Rejection>(&outcome)) {
            ADD_FAILURE() << rejection->summary << "\n" << rejection->log;
            return;
        }
        binary = std::get<Binary>(outcome);
        auto opened = host::HostModule::open(binary.file);
        if (opened)
            module_.emplace(std::move(*opened));
        else
            ADD_FAILURE() << opened.error().message;
    }

    /// The error's message, or empty.
    template <typename... Arguments>
    std::string run(const char *entry, const host::LaunchShape &shape, Arguments... arguments) {
        if (!module_)
            return "not compiled";
        std::vector<void *> pointers = {static_cast<void *>(&arguments)...};
        auto done = module_->launch(entry, shape, pointers);
        return done ? "" : done.error().message;
    }
    bool fibers(const char *entry) const { return module_ && module_->find(entry)->fibers; }

    Binary binary;

  private:
    std::optional<host::HostModule> module_;
};

inline host::LaunchShape shape(std::uint32_t grid, std::uint32_t block, std::uint32_t shared = 0) {
    return {.grid = {grid, 1, 1}, .block = {block, 1, 1}, .sharedBytes = shared};
}

/// Reproducible values in [low, high).
inline std::vector<float> someFloats(std::size_t count, float low = -2, float high = 2,
                                     std::uint32_t seed = 1) {
    std::vector<float> values(count);
    for (auto &value : values) {
        seed = seed * 1664525u + 1013904223u;
        value = low + (high - low) * static_cast<float>(seed >> 8) / 16777216.f;
    }
    return values;
}

} // namespace cuda_agent::toolchain::test
