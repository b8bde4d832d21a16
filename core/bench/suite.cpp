// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/bench/suite.h"

#include "core/base/json.h"
#include "core/bench/task_set.h"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <tuple>

namespace cuda_agent::bench {

namespace fs = std::filesystem;

namespace {

/// The number that a name begins with ("19_ReLU"), or -1.
int leadingNumber(std::string_view name) {
    int number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    const bool ends = end == name.data() + name.size() || *end == '_';
    return error == std::errc() && ends && number >= 0 ? number : -1;
}

/// "level12" -> "12"; empty for any other name.
std::string levelOf(const std::string &folder) {
    constexpr std::string_view prefix = "level";
    if (!folder.starts_with(prefix) || folder.size() == prefix.size())
        return {};
    const std::string number = folder.substr(prefix.size());
    return std::ranges::all_of(number, [](char c) { return c >= '0' && c <= '9'; }) ? number
                                                                                    : std::string();
}

bool isTask(const fs::directory_entry &entry) {
    return entry.is_regular_file() && entry.path().extension() == ".py" &&
           !entry.path().filename().string().starts_with('_') &&
           !entry.path().filename().string().starts_with('.');
}

SuiteTask taskOf(const fs::path &file, const std::string &level) {
    SuiteTask task{file.stem().string(), level, fs::absolute(file)};
    if (const int number = leadingNumber(task.id); !level.empty() && number >= 0)
        task.id = fmt::format("{}/{}", level, number);
    else if (!level.empty())
        task.id = level + "/" + task.id;
    return task;
}

Result<std::vector<SuiteTask>> tasksIn(const fs::path &folder, const std::string &level) {
    std::vector<SuiteTask> tasks;
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
        if (isTask(*at))
            tasks.push_back(taskOf(at->path(), level));
    if (error)
        return requestError("cannot read {}: {}", folder.string(), error.message());
    return tasks;
}

Result<std::vector<SuiteTask>> tasksBelow(const fs::path &folder) {
    CUDA_AGENT_ASSIGN(tasks, tasksIn(folder, levelOf(fs::absolute(folder).filename().string())));
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
        const std::string level = levelOf(at->path().filename().string());
        if (level.empty() || !at->is_directory())
            continue;
        CUDA_AGENT_ASSIGN(more, tasksIn(at->path(), level));
        tasks.insert(tasks.end(), more.begin(), more.end());
    }
    std::ranges::sort(tasks, {}, [](const SuiteTask &task) {
        const int number = leadingNumber(task.name());
        return std::make_tuple(leadingNumber(task.level), number < 0 ? 1 : 0, number, task.name());
    });
    return std::move(tasks);
}

Result<std::vector<SuiteTask>> tasksOfList(const fs::path &list) {
    CUDA_AGENT_ASSIGN(text, readTextFile(list));
    std::vector<SuiteTask> tasks;
    std::istringstream lines(text);
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) {
        line.erase(std::min(line.find('#'), line.size()));
        const auto begin = line.find_first_not_of(" \t\r");
        if (begin == line.npos)
            continue;
        line = line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1);
        const fs::path file = list.parent_path() / line;
        std::error_code error;
        if (file.extension() != ".py" || !fs::is_regular_file(file, error))
            return requestError("{}:{}: '{}' is no .py file", list.string(), number, line);
        tasks.push_back(taskOf(file, levelOf(file.parent_path().filename().string())));
    }
    return tasks;
}

Result<void> checkIds(const Suite &suite) {
    std::map<std::string, fs::path> seen;
    for (const auto &task : suite.tasks)
        if (const auto [at, fresh] = seen.emplace(task.id, task.file); !fresh)
            return requestError("{} and {} are both task {} of the suite; rename one",
                                at->second.string(), task.file.string(), task.id);
    return {};
}

/// "'1/19' or '19_ReLU'"; one where both are the same.
std::string namesOf(const SuiteTask &task) {
    return task.id == task.name() ? fmt::format("'{}'", task.id)
                                  : fmt::format("'{}' or '{}'", task.id, task.name());
}

Result<void> select(Suite &suite, const Selection &selection) {
    const auto has = [](const std::vector<std::string> &all, const std::string &one) {
        return std::ranges::find(all, one) != all.end();
    };
    for (const auto &level : selection.levels)
        if (std::ranges::none_of(suite.tasks,
                                 [&](const SuiteTask &task) { return task.level == level; }))
            return requestError("{} has no tasks of level {}", suite.source.string(), level);
    for (const auto &split : selection.splits)
        if (std::ranges::none_of(suite.tasks,
                                 [&](const SuiteTask &task) { return task.split == split; }))
            return requestError("{} has no tasks of the split {}", suite.source.string(), split);
    for (const auto &name : selection.only)
        if (std::ranges::none_of(suite.tasks, [&](const SuiteTask &task) {
                return task.id == name || task.name() == name;
            }))
            return requestError("{} has no task '{}'; tasks are named as {}", suite.source.string(),
                                name, namesOf(suite.tasks.front()));
    std::erase_if(suite.tasks, [&](const SuiteTask &task) {
        return (!selection.levels.empty() && !has(selection.levels, task.level)) ||
               (!selection.splits.empty() && !has(selection.splits, task.split)) ||
               (!selection.only.empty() && !has(selection.only, task.id) &&
                !has(selection.only, task.name()));
    });
    if (suite.tasks.empty())
        return requestError(
            "no task of {} is both of the levels and splits and among the tasks asked for",
            suite.source.string());
    return {};
}

} // namespace

Result<Suite> openSuite(const fs::path &source, const Selection &selection) {
    Suite suite{source, {}, selection.mostBytes};
    TaskSet set;
    std::error_code error;
    const auto place = setOf(source);
    if (selection.mostBytes > 0 && !isTaskSet(place) && fs::exists(place, error))
        return requestError("{} does not say what memory its tasks take, so that none can be cut "
                            "to it; a set of tasks (.jsonl, .jsonl.gz) does",
                            source.string());
    if (fs::is_directory(place, error)) {
        CUDA_AGENT_ASSIGN(tasks, tasksBelow(source));
        suite.tasks = std::move(tasks);
    } else if (fs::is_regular_file(place, error)) {
        if (isTaskSet(place)) {
            CUDA_AGENT_ASSIGN(read, readTaskSet(place, selection.mostBytes));
            set = std::move(read);
            suite.tasks = set.tasks;
        } else if (source.extension() == ".py") {
            suite.tasks = {taskOf(source, levelOf(source.parent_path().filename().string()))};
        } else {
            CUDA_AGENT_ASSIGN(tasks, tasksOfList(source));
            suite.tasks = std::move(tasks);
        }
    } else {
        return requestError("{} is neither a folder of tasks nor a list of them", source.string());
    }
    if (suite.tasks.empty())
        return requestError("{} holds no tasks: .py files with Model, get_inputs() and "
                            "get_init_inputs(), also below level1, level2, ...",
                            source.string());
    CUDA_AGENT_TRY(checkIds(suite));
    CUDA_AGENT_TRY(select(suite, selection));
    if (!set.tasks.empty())
        CUDA_AGENT_TRY(writeTasks(set, suite.tasks));
    return suite;
}

} // namespace cuda_agent::bench
