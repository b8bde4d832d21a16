// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace cuda_agent::app {

/// What a user is told of a command line that cannot be used: the command that it is about, what is
/// wrong, the command or option that was probably meant, and where to read on. Of a program that
/// got no command at all: its help.
std::string usageError(const CLI::App &app, const CLI::Error &error);

} // namespace cuda_agent::app
