// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/toolchain/binary_cache.h"

#include "core/base/hash.h"
#include "core/base/paths.h"

#include <algorithm>
#include <unistd.h>

namespace cuda_agent::toolchain {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t binaryLimit = 256u << 20;
constexpr const char *stagingPrefix = ".new-";

Json toJson(const EntryInfo &entry) {
    return {{"name", entry.name},
            {"registers", entry.registers},
            {"spill_bytes", entry.spillBytes},
            {"shared_bytes", entry.sharedBytes},
            {"stack_bytes", entry.stackBytes},
            {"barriers", entry.barriers}};
}

/// Absent when the facts are not ours or do not fit the file.
std::optional<Binary> readEntry(const fs::path &folder) {
    auto facts = readJsonFile(folder / "facts.json");
    if (!facts || !facts->is_object())
        return {};
    try {
        Binary binary;
        const auto name = facts->at("file").get<std::string>();
        if (name.find('/') != name.npos)
            return {};
        binary.file = folder / name;
        auto content = readTextFile(binary.file, binaryLimit);
        if (!content || sha256Hex(*content) != facts->at("sha256").get<std::string>())
            return {};
        binary.seconds = facts->at("seconds").get<double>();
        for (const auto &entry : facts->at("entries"))
            binary.entries.push_back(
                {entry.at("name").get<std::string>(), entry.at("registers").get<int>(),
                 entry.at("spill_bytes").get<int>(), entry.at("shared_bytes").get<int>(),
                 entry.at("stack_bytes").get<int>(), entry.value("barriers", -1)});
        for (const auto &warning : facts->at("warnings"))
            binary.warnings.push_back(
                {warning.at("severity").get<std::string>(), warning.at("file").get<std::string>(),
                 warning.at("line").get<int>(), warning.at("column").get<int>(),
                 warning.at("message").get<std::string>()});
        return binary;
    } catch (const Json::exception &) {
        return {};
    }
}

} // namespace

BinaryCache::BinaryCache(fs::path folder) : folder_(std::move(folder)) {}

fs::path BinaryCache::defaultFolder() {
    return cacheDir() / "binaries";
}

std::optional<Binary> BinaryCache::find(const std::string &hash) const {
    const fs::path folder = folder_ / hash;
    auto binary = readEntry(folder);
    if (!binary)
        return {};
    binary->hash = hash;
    binary->cached = true;
    std::error_code ignored; // the folder's time is when it was last of use
    fs::last_write_time(folder, fs::file_time_type::clock::now(), ignored);
    return binary;
}

Result<Binary> BinaryCache::store(const std::string &hash, const Binary &facts,
                                  const fs::path &compiled) const {
    std::error_code error;
    fs::create_directories(folder_, error);
    if (error)
        return machineError("cannot make the cache folder {}: {}", folder_.string(),
                            error.message());
    std::string pattern = (folder_ / (std::string(stagingPrefix) + "XXXXXX")).string();
    if (!mkdtemp(pattern.data()))
        return machineError("cannot write to the cache folder {}; free some space or set "
                            "CUDA_AGENT_CACHE",
                            folder_.string());
    const fs::path staging = pattern;
    const auto fail = [&](std::string_view why) {
        std::error_code ignored;
        fs::remove_all(staging, ignored);
        return machineError("cannot keep a compiled kernel in {}: {}", folder_.string(), why);
    };
    const std::string name = "binary" + compiled.extension().string();
    auto content = readTextFile(compiled, binaryLimit);
    if (!content)
        return fail(content.error().message);
    if (auto written = writeFileAtomically(staging / name, *content); !written)
        return fail(written.error().message);
    Json json = {{"file", name},
                 {"sha256", sha256Hex(*content)},
                 {"seconds", facts.seconds},
                 {"entries", Json::array()},
                 {"warnings", Json::array()}};
    for (const auto &entry : facts.entries)
        json["entries"].push_back(toJson(entry));
    for (const auto &warning : facts.warnings)
        json["warnings"].push_back(toJson(warning));
    // A compiler may quote bytes of the source that are no UTF-8.
    const std::string text = json.dump(1, ' ', false, Json::error_handler_t::replace);
    if (auto written = writeFileAtomically(staging / "facts.json", text); !written)
        return fail(written.error().message);

    const fs::path entry = folder_ / hash;
    fs::rename(staging, entry, error);
    if (error && !readEntry(entry)) { // a damaged entry stands in the way
        fs::remove_all(entry, error);
        fs::rename(staging, entry, error);
    }
    std::error_code ignored;
    fs::remove_all(staging, ignored);
    auto binary = readEntry(entry);
    if (!binary)
        return machineError("cannot keep a compiled kernel in {}", folder_.string());
    binary->hash = hash;
    return *binary;
}

void BinaryCache::prune(std::size_t keep) const {
    std::error_code ignored;
    std::vector<std::pair<fs::file_time_type, fs::path>> entries;
    const auto now = fs::file_time_type::clock::now();
    for (const auto &entry : fs::directory_iterator(folder_, ignored)) {
        const auto time = fs::last_write_time(entry.path(), ignored);
        if (!entry.path().filename().string().starts_with(stagingPrefix))
            entries.emplace_back(time, entry.path());
        else if (now - time > std::chrono::hours(24)) // left behind by a process that was killed
            fs::remove_all(entry.path(), ignored);
    }
    if (entries.size() <= keep)
        return;
    std::ranges::sort(entries);
    for (std::size_t i = 0; i < entries.size() - keep; ++i)
        fs::remove_all(entries[i].second, ignored);
}

} // namespace cuda_agent::toolchain
