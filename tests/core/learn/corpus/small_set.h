// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.h"
#include "tests/source_dir.h"

#include <filesystem>
#include <string>
#include <vector>

namespace cuda_agent::learn {

/// The program's sample tasks, with other constants so that a test machine computes them soon, as a
/// set in `folder`/set.jsonl; two of train, one of held_out.
struct SmallTask {
    const char *name;
    std::vector<std::pair<std::string, std::string>> constants; ///< line as it stands, and becomes
    const char *split;
};

inline std::string smallCode(const SmallTask &task) {
    const auto file = sourceDir() / "resources/tasks" / (std::string(task.name) + ".py");
    auto text = readTextFile(file).value_or("");
    for (const auto &[from, to] : task.constants)
        if (const auto at = text.find(from); at != text.npos)
            text.replace(at, from.size(), to);
    return text;
}

inline const std::vector<SmallTask> &smallTasks() {
    static const std::vector<SmallTask> tasks{
        {"fused_norm",
         {{"rows = 1024", "rows = 192"}, {"features = 1024", "features = 256"}},
         "train"},
        {"softmax", {{"rows = 2048", "rows = 128"}}, "train"},
        {"pointwise_chain", {{"rows = 1024", "rows = 64"}}, "held_out"}};
    return tasks;
}

inline std::filesystem::path writeSmallSet(const std::filesystem::path &folder) {
    std::filesystem::create_directories(folder);
    std::string lines;
    for (const auto &task : smallTasks())
        lines += Json{{"name", task.name},
                      {"code", smallCode(task)},
                      {"level", "1"},
                      {"split", task.split}}
                     .dump() +
                 "\n";
    (void)writeFileAtomically(folder / "set.jsonl", lines);
    return folder / "set.jsonl";
}

} // namespace cuda_agent::learn
