// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/bench/store.h"

#include <algorithm>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace cuda_agent::bench {

namespace fs = std::filesystem;

namespace {

constexpr const char *settingsFile = "evaluation.json";
constexpr const char *resultsFile = "results.jsonl";
constexpr const char *costFile = "cost.json";

Result<void> checkSettings(const fs::path &file, const Json &settings) {
    std::error_code error;
    if (!fs::exists(file, error))
        return writeFileAtomically(file, settings.dump(2) + "\n");
    CUDA_AGENT_ASSIGN(before, readJsonFile(file));
    for (const auto &[key, value] : settings.items())
        if (before.value(key, Json()) != value)
            return requestError("{} holds an evaluation with {} {}, not {}; use another --out "
                                "folder",
                                file.parent_path().string(), key, before.value(key, Json()).dump(),
                                value.dump());
    return {};
}

} // namespace

Result<Store> Store::open(const fs::path &folder, const Json &settings) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error)
        return requestError("cannot create {}: {}", folder.string(), error.message());
    Store store;
    store.folder_ = folder;
    CUDA_AGENT_TRY(checkSettings(folder / settingsFile, settings));
    const fs::path results = folder / resultsFile;
    store.file_ = UniqueFd(::open(results.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
    if (!store.file_)
        return machineError("cannot write {}: {}", results.string(), std::strerror(errno));
    if (::flock(store.file_.get(), LOCK_EX | LOCK_NB) != 0)
        return requestError("another evaluation writes to {}; wait for it or stop it",
                            folder.string());
    CUDA_AGENT_ASSIGN(text, readTextFile(results, std::size_t{1} << 30));
    std::size_t begin = 0;
    for (std::size_t number = 1; begin < text.size(); ++number) {
        const auto end = text.find('\n', begin);
        if (end == text.npos) { // cut off while it was written
            if (::ftruncate(store.file_.get(), static_cast<off_t>(begin)) != 0)
                return machineError("cannot mend {}: {}", results.string(), std::strerror(errno));
            break;
        }
        const auto what = fmt::format("{}:{}", results.string(), number);
        CUDA_AGENT_ASSIGN(json, parseJson(std::string_view(text).substr(begin, end - begin), what));
        auto record = recordFromJson(json);
        if (!record)
            return requestError("{}: {}", what, record.error().message);
        store.keep(std::move(*record));
        begin = end + 1;
    }
    if (const auto cost = readJsonFile(folder / costFile); cost && cost->is_object())
        store.cost_ = cost->value("device_seconds", 0.0);
    return store;
}

bool Store::has(const std::string &key) const {
    return std::ranges::any_of(
        records_, [&](const Record &record) { return record.key() == key && !record.again(); });
}

void Store::keep(Record record) {
    const auto same = std::ranges::find(records_, record.key(), &Record::key);
    if (same != records_.end())
        *same = std::move(record);
    else
        records_.push_back(std::move(record));
}

Result<void> Store::append(Record record) {
    const std::string line =
        toJson(record).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    for (std::size_t done = 0; done < line.size();) {
        const auto written = ::write(file_.get(), line.data() + done, line.size() - done);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return machineError("cannot write {}: {}", (folder_ / resultsFile).string(),
                                std::strerror(errno));
        done += static_cast<std::size_t>(written);
    }
    if (::fdatasync(file_.get()) != 0)
        return machineError("cannot write {}: {}", (folder_ / resultsFile).string(),
                            std::strerror(errno));
    keep(std::move(record));
    return {};
}

Result<void> Store::addCost(double deviceSeconds) {
    cost_ += deviceSeconds;
    return writeFileAtomically(folder_ / costFile, Json{{"device_seconds", cost_}}.dump() + "\n");
}

} // namespace cuda_agent::bench
