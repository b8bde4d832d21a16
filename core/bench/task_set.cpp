// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/bench/task_set.h"

#include "core/base/gzip.h"
#include "core/base/hash.h"
#include "core/base/json.h"
#include "core/base/names.h"
#include "core/base/paths.h"

#include <algorithm>
#include <charconv>

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

std::uint64_t bytesAt(const Json &line, const char *key) {
    const auto found = line.find(key);
    return found != line.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

/// Where the number of the module-level constant `batch_size` stands in the text, which is empty
/// where there is none.
std::string_view batchSize(std::string_view code) {
    constexpr std::string_view constant = "batch_size = ";
    auto at = code.find(constant);
    while (at != code.npos && at > 0 && code[at - 1] != '\n')
        at = code.find(constant, at + 1);
    if (at == code.npos)
        return {};
    const auto number = code.substr(at + constant.size());
    return number.substr(0, number.find_first_not_of("0123456789"));
}

/// Cuts the batch so that the task takes about `most` of memory in place of `bytes`. Not all of it
/// may follow the batch, so it may be more.
void cut(std::string &code, std::uint64_t &bytes, std::uint64_t most) {
    if (bytes > most)
        bytes = static_cast<std::uint64_t>(
            static_cast<double>(bytes) *
            cutBatch(code, static_cast<double>(most) / static_cast<double>(bytes)));
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

double cutBatch(std::string &code, double share) {
    const auto text = batchSize(code);
    std::uint64_t batch = 0;
    std::from_chars(text.data(), text.data() + text.size(), batch);
    if (batch <= 1)
        return 1;
    const auto smaller =
        std::max<std::uint64_t>(1, static_cast<std::uint64_t>(static_cast<double>(batch) * share));
    code.replace(static_cast<std::size_t>(text.data() - code.data()), text.size(),
                 std::to_string(smaller));
    return static_cast<double>(smaller) / static_cast<double>(batch);
}

Result<TaskSet> readTaskSet(const fs::path &place, std::uint64_t mostBytes) {
    const auto file = setOf(place);
    auto text = file.extension() == ".gz" ? readGzipFile(file) : readTextFile(file, 1u << 30);
    if (!text)
        return tl::unexpected(text.error());
    auto key = sha256Hex(*text).substr(0, 32);
    if (mostBytes > 0)
        key += fmt::format("-{}", mostBytes);
    const auto folder = cacheDir() / "sets" / key;
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
        auto code = textAt(json, "code");
        task.memoryBytes = bytesAt(json, "memory_bytes");
        if (mostBytes > 0)
            cut(code, task.memoryBytes, mostBytes);
        set.sources[task.file] = std::move(code);
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
