// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/bench/store.h"

#include <algorithm>

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
    if (!before.is_object())
        return requestError("{} is no object; use another --out folder", file.string());
    auto both = settings; // what one of them leaves out differs, too
    both.update(before);
    for (const auto &[key, ignored] : both.items())
        if (const auto was = before.value(key, Json()), is = settings.value(key, Json()); was != is)
            return requestError("{} holds an evaluation with {} {}, not {}; use another --out "
                                "folder",
                                file.parent_path().string(), key, was.dump(), is.dump());
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
    CUDA_AGENT_ASSIGN(log, LineLog::open(folder / resultsFile, [&](const Json &json) {
                          auto record = recordFromJson(json);
                          if (!record)
                              return Result<void>(tl::unexpected(record.error()));
                          store.keep(std::move(*record));
                          return Result<void>();
                      }));
    store.log_.emplace(std::move(log));
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
    CUDA_AGENT_TRY(log_->append(toJson(record)));
    keep(std::move(record));
    return {};
}

Result<void> Store::addCost(double deviceSeconds) {
    cost_ += deviceSeconds;
    return writeFileAtomically(folder_ / costFile, Json{{"device_seconds", cost_}}.dump() + "\n");
}

} // namespace cuda_agent::bench
