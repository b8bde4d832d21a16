// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cuda_agent/memory_options.h"

#include "core/knowledge/store.h"

namespace cuda_agent::app {

void MemoryOptions::add(CLI::App &app) {
    auto *file = app.add_option("--memory", named,
                                "File with what earlier sessions found, which the policy is "
                                "offered and this session adds to (default: " +
                                    knowledge::defaultFile().string() + ")");
    app.add_flag("--no-memory", none, "Offer nothing of earlier sessions, and keep nothing")
        ->excludes(file);
}

Result<std::filesystem::path> MemoryOptions::file() const {
    if (none)
        return std::filesystem::path();
    if (named.empty())
        return knowledge::defaultFile();
    // A file that is damaged or too new is the session's to say; what was named and cannot be
    // written at all is a slip of the pen.
    if (const auto store = knowledge::Store::open(named);
        !store && store.error().kind == ErrorKind::machine)
        return requestError("--memory: {}", store.error().message);
    return std::filesystem::path(named);
}

} // namespace cuda_agent::app
