// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

/// One input of a fuzzer, as libFuzzer's interface has it. Each target of this folder defines it:
/// it reads the bytes as the program would read them from somebody it does not trust. An exception,
/// a sanitizer's report, a broken promise or a hang is a finding.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size);

namespace cuda_agent::fuzz {

inline std::string_view textOf(const std::uint8_t *data, std::size_t size) {
    return {reinterpret_cast<const char *>(data), size};
}

/// What must hold whatever the input is; a fuzzer takes an abort for a finding.
inline void require(bool holds, const char *promise) {
    if (holds)
        return;
    std::fprintf(stderr, "broken promise: %s\n", promise);
    std::abort();
}

} // namespace cuda_agent::fuzz
