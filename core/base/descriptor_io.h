// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace cuda_agent {

/// At most `bytes` from where the descriptor stands, fewer at the end of the file. Nothing on an
/// error, which errno tells. Interrupted calls are made again.
std::optional<std::string> readUpTo(int fd, std::size_t bytes);

/// All of it. False on an error, which errno tells; a part may then be written.
bool writeWhole(int fd, std::string_view content);

} // namespace cuda_agent
