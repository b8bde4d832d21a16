// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/modules/commands.h"

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace cuda_agent::modules {

// Private to this room.

/// The includes that may stand precompiled before a binding's text, as lines; empty for none. They
/// are among those that the text begins with, so that a binding that forgets one does not compile
/// here either; on cpu those of cuda_agent_binding.h, which is put before every binding anyway.
std::string precompilable(std::string_view text, device::Kind device);

/// PyTorch's headers as g++ has read them: 0.5 to 0.8 GB a set of includes, made once a machine in
/// the compilers' sandbox, where nothing of a candidate lies, and kept in cacheDir()/headers. A
/// binding takes less than half of the time then. They are made when a binding asks for the second
/// time, in whatever process, since that takes longer than one binding. Source: GCC manual, "Using
/// Precompiled Headers".
///
/// The folder that holds them, as headers.h and headers.h.gch; nothing where there is none (yet):
/// another process makes it just now, the disk has too little room, or g++ could not. Blocking,
/// some 20 s when they are made; any thread may call. Errors: machine (the cache's folder),
/// stopped.
Result<std::optional<std::filesystem::path>>
precompiledHeaders(const Tools &tools, const std::string &includes, std::stop_token stop);

} // namespace cuda_agent::modules
