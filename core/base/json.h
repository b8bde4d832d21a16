// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string_view>

namespace cuda_agent {

using Json = nlohmann::json;

/// Parses UTF-8 JSON text; `what` names the text in the error ("plan.json").
/// Errors: ErrorKind::request with line and column.
Result<Json> parseJson(std::string_view text, std::string_view what);

/// Reads and parses a whole file. Errors: ErrorKind::request (missing, unreadable, not JSON).
Result<Json> readJsonFile(const std::filesystem::path &path);

/// Reads a whole file as bytes; refuses more than `limit` bytes. Errors: ErrorKind::request.
Result<std::string> readTextFile(const std::filesystem::path &path, std::size_t limit = 64u << 20);

/// Writes a file so that a reader sees the old or the new content, never a part
/// (temporary file beside it, fsync, rename). Errors: ErrorKind::machine (disk full, ...).
Result<void> writeFileAtomically(const std::filesystem::path &path, std::string_view content);

} // namespace cuda_agent
