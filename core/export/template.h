// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <filesystem>
#include <map>
#include <string>

namespace cuda_agent::exporter {

/// A file of this program as it goes into an extension: under the extension's licence, which its
/// authors give it for that purpose. Errors: machine (missing).
Result<std::string> sharedFile(const std::filesystem::path &path);

/// The template of that name in shareDir()/export with each `@NAME@` replaced.
/// Errors: machine (missing, or a name that has no value).
Result<std::string> filledTemplate(const std::string &name,
                                   const std::map<std::string, std::string> &values);

} // namespace cuda_agent::exporter
