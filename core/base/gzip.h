// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace cuda_agent {

/// The text as a gzip file (RFC 1952) without name and time: the same bytes for the same text.
std::string gzip(std::string_view text);

/// The content of a gzip file, of several members, too. Errors: request (not there, no gzip file,
/// cut off, more than `limit` bytes).
Result<std::string> readGzipFile(const std::filesystem::path &file,
                                 std::size_t limit = std::size_t{1} << 30);

} // namespace cuda_agent
