// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace cuda_agent::sandbox {

/// Small reads and writes of control group files; an absent file is an absent value.
std::optional<std::string> readCgroupFile(const std::filesystem::path &file);
bool writeCgroupFile(const std::filesystem::path &file, const std::string &value);
/// The number after `key` in a file of "key number" lines, or the whole file's when `key` is empty.
std::optional<std::uint64_t> cgroupNumber(const std::filesystem::path &file,
                                          const std::string &key = {});
/// Kills what is listed in the group until it is empty, then removes its folder.
bool destroyCgroup(const std::filesystem::path &folder);
void killCgroup(const std::filesystem::path &folder);

/// "cuda-agent-<pid name space>-<pid>-<start time>-": tells whose a left-over group is.
std::string cgroupNamePrefix();

} // namespace cuda_agent::sandbox
