// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace cuda_agent {

/// The text as a gzip file (RFC 1952) without name and time: the same bytes for the same text.
std::string gzip(std::string_view text);

/// The content of a gzip file, of several members, too. Errors: request (not there, no gzip file,
/// cut off, more than `limit` bytes).
Result<std::string> readGzipFile(const std::filesystem::path &file,
                                 std::size_t limit = std::size_t{1} << 30);

/// Calls `line` with each line of a gzip file of any size, without its end, and the line's number
/// from 1; one is in memory at a time. Errors: request (not there, no gzip file, cut off, a line of
/// more than `longest` bytes), and those of `line`, which end the reading.
Result<void> eachGzipLine(const std::filesystem::path &file,
                          const std::function<Result<void>(std::string_view, std::size_t)> &line,
                          std::size_t longest = std::size_t{1} << 26);

} // namespace cuda_agent
