// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/bench/suite.h"

#include <algorithm>
#include <optional>
#include <regex>

namespace cuda_agent::bench {

namespace fs = std::filesystem;

namespace {

/// Which task and sample a candidate's name stands for.
struct Meant {
    const SuiteTask *task = nullptr;
    int sample = 0;
};

/// At most nine digits, as the expressions below take them.
int numberOf(const std::string &digits) {
    return digits.empty() ? 0 : std::stoi(digits);
}

const SuiteTask *find(const Suite &suite, const std::string &level, const std::string &number) {
    for (const auto &task : suite.tasks)
        if ((level.empty() || task.level == level) &&
            (task.name().starts_with(number + "_") || task.name() == number))
            return &task;
    return nullptr;
}

/// `level` is that of the folder the candidate lies in, or empty.
std::optional<Meant> meaningOf(const std::string &name, const std::string &level,
                               const Suite &suite) {
    static const std::regex stored(
        R"(level_(\d{1,9})_problem_(\d{1,9})_sample_(\d{1,9})(_kernel)?)");
    static const std::regex numbered(R"((.*)_sample_(\d{1,9}))");
    static const std::regex begun(R"((\d{1,9})(_.*)?)");
    std::smatch match;
    if (std::regex_match(name, match, stored)) {
        if (const auto *task = find(suite, match[1], match[2]))
            return Meant{task, numberOf(match[3])};
        return {};
    }
    Meant meant;
    std::string stem = name;
    if (std::regex_match(name, match, numbered)) {
        stem = match[1];
        meant.sample = numberOf(match[2]);
    }
    for (const auto &task : suite.tasks)
        if (task.name() == stem && (level.empty() || task.level == level))
            meant.task = &task;
    if (!meant.task && std::regex_match(stem, match, begun))
        meant.task = find(suite, level, match[1]);
    return meant.task ? std::optional(meant) : std::nullopt;
}

std::string levelOf(const std::string &folder) {
    static const std::regex pattern(R"(level_?(\d{1,9}))");
    std::smatch match;
    return std::regex_match(folder, match, pattern) ? match[1].str() : std::string();
}

} // namespace

Result<std::map<std::string, std::vector<Sample>>> matchSamples(const fs::path &folder,
                                                                const Suite &suite) {
    std::map<std::string, std::vector<Sample>> found;
    const auto look = [&](const fs::path &place, const std::string &level,
                          auto &&again) -> Result<void> {
        std::error_code error;
        for (fs::directory_iterator at(place, error), end; !error && at != end;
             at.increment(error)) {
            const bool isFolder = at->is_directory();
            if (!isFolder && at->path().extension() != ".py")
                continue;
            const std::string name =
                (isFolder ? at->path().filename() : at->path().stem()).string();
            if (const auto inner = levelOf(name); isFolder && level.empty() && !inner.empty()) {
                CUDA_AGENT_TRY(again(at->path(), inner, again));
                continue;
            }
            const auto meant = meaningOf(name, level, suite);
            if (!meant)
                continue;
            auto &samples = found[meant->task->id];
            for (const auto &other : samples)
                if (other.number == meant->sample)
                    return requestError("{} and {} are both sample {} of task {}",
                                        other.path.string(), at->path().string(), meant->sample,
                                        meant->task->id);
            samples.push_back({meant->sample, fs::absolute(at->path())});
        }
        if (error)
            return requestError("cannot read {}: {}", place.string(), error.message());
        return {};
    };
    CUDA_AGENT_TRY(look(folder, {}, look));
    if (found.empty())
        return requestError("nothing in {} belongs to a task of {}: candidates are folders or .py "
                            "files named as the task ('{}') or as KernelBench's runs store them "
                            "('level_1_problem_19_sample_0_kernel.py')",
                            folder.string(), suite.source.string(), suite.tasks.front().name());
    for (auto &[task, samples] : found)
        std::ranges::sort(samples, {}, &Sample::number);
    return found;
}

} // namespace cuda_agent::bench
