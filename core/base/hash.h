// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace cuda_agent {

/// SHA-256 of `bytes` as 64 lower-case hex digits: names of blobs and cache entries.
std::string sha256Hex(std::string_view bytes);

/// A secret from the operating system's random source (getrandom); never logged before use.
std::uint64_t randomSeed();

} // namespace cuda_agent
