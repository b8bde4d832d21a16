// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/bench/task_set.h"

#include "core/base/gzip.h"
#include "core/base/hash.h"
#include "core/base/json.h"
#include "core/base/names.h"
#include "core/base/paths.h"

#include <algorithm>

namespace cuda_agent::bench {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t longestName = 200;

/// What a set from elsewhere may call a file of ours.
bool isPlainName(const std::string &name) {
    return !name.empty() && name.size() <= longestName && name.front() != '.' &&
           std::ranges::all_of(name, [](char c) { return isNamePart(c) || c == '-' || c == '.'; });
}

std::string textAt(const Json &line, const char *key) {
    const auto found = line.find(key);
    if (found == line.end())
        return {};
    return found->is_string() ? found->get<std::string>()
                              : (found->is_number_integer() ? found->dump() : std::string());
}

} // namespace

bool isTaskSet(const fs::path &file) {
    const auto name = file.filename().string();
    return name.ends_with(".jsonl") || name.ends_with(".jsonl.gz");
}

fs::path setOf(const fs::path &path) {
    std::error_code error;
    const auto set = path / "set.jsonl.gz";
    return fs::is_regular_file(set, error) ? set : path;
}

Result<TaskSet> readTaskSet(const fs::path &place) {
    const auto file = setOf(place);
    auto text = file.extension() == ".gz" ? readGzipFile(file) : readTextFile(file, 1u << 30);
    if (!text)
        return tl::unexpected(text.error());
    const auto folder = cacheDir() / "sets" / sha256Hex(*text).substr(0, 32);
    TaskSet set;
    std::size_t begin = 0;
    for (std::size_t number = 1; begin < text->size(); ++number) {
        const auto end = std::min(text->find('\n', begin), text->size());
        const auto what = fmt::format("{}:{}", file.string(), number);
        const auto line = std::string_view(*text).substr(begin, end - begin);
        begin = end + 1;
        if (line.find_first_not_of(" \t\r") == line.npos)
            continue;
        CUDA_AGENT_ASSIGN(json, parseJson(line, what));
        SuiteTask task;
        const auto name = textAt(json, "name");
        if (!isPlainName(name) || textAt(json, "code").empty())
            return requestError("{}: no task: it needs \"code\" and a \"name\" of letters, digits "
                                "and _-.",
                                what);
        task.level = textAt(json, "level");
        task.split = textAt(json, "split");
        task.id = name;
        task.file = folder / (name + ".py");
        set.sources[task.file] = textAt(json, "code");
        set.tasks.push_back(std::move(task));
    }
    return set;
}

Result<void> writeTasks(const TaskSet &set, const std::vector<SuiteTask> &tasks) {
    std::error_code error;
    for (const auto &task : tasks) {
        if (fs::exists(task.file, error))
            continue;
        fs::create_directories(task.file.parent_path(), error);
        CUDA_AGENT_TRY(writeFileAtomically(task.file, set.sources.at(task.file)));
    }
    return {};
}

} // namespace cuda_agent::bench
