// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/train/checkpoint.h"

#include "core/base/hash.h"
#include "core/learn/run/run_files.h"

#include <algorithm>
#include <vector>

namespace cuda_agent::learn {

namespace fs = std::filesystem;

namespace {

constexpr int format = 1;
constexpr const char *manifestName = "manifest.json";
constexpr std::size_t largestFile = std::size_t{64} << 30;

struct Found {
    std::int64_t step;
    fs::path folder;
};

/// Newest first.
std::vector<Found> allOf(const fs::path &folder) {
    std::vector<Found> found;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
        if (const auto step = stepOfName(entry->path().filename().string()); step >= 0)
            found.push_back({step, entry->path()});
    }
    std::ranges::sort(found, std::greater(), &Found::step);
    return found;
}

Result<Json> describe(const fs::path &file) {
    CUDA_AGENT_ASSIGN(bytes, readTextFile(file, largestFile));
    return Json{{"bytes", bytes.size()}, {"sha256", sha256Hex(bytes)}};
}

Result<Checkpoint> opened(const Found &found) {
    CUDA_AGENT_ASSIGN(manifest, readJsonFile(found.folder / manifestName));
    const auto files = manifest.find("files");
    if (manifest.value("format", 0) != format || files == manifest.end() || !files->is_object())
        return requestError("{}: not a manifest of this program", found.folder.string());
    for (const auto &[name, written] : files->items()) {
        CUDA_AGENT_ASSIGN(there, describe(found.folder / name));
        if (there != written)
            return requestError("{}: {} is not as it was written", found.folder.string(), name);
    }
    return Checkpoint{found.folder, found.step, manifest.value("state", Json())};
}

} // namespace

Result<void> writeCheckpoint(const fs::path &run, std::int64_t step, const Json &state,
                             std::int64_t kept,
                             const std::function<Result<void>(const fs::path &)> &write) {
    const auto last = checkpointFolder(run, step), folder = last.parent_path();
    const auto beside = folder / fmt::format(".{}.part", last.filename().string());
    std::error_code error;
    fs::remove_all(beside, error);
    fs::create_directories(beside, error);
    if (error)
        return machineError("{}: {}", beside.string(), error.message());
    CUDA_AGENT_TRY(write(beside));
    Json files = Json::object();
    for (const auto &entry : fs::recursive_directory_iterator(beside))
        if (entry.is_regular_file()) {
            CUDA_AGENT_ASSIGN(file, describe(entry.path()));
            files[fs::relative(entry.path(), beside).string()] = std::move(file);
        }
    CUDA_AGENT_TRY(writeFileAtomically(
        beside / manifestName,
        Json{{"format", format}, {"step", step}, {"state", state}, {"files", files}}.dump(2) +
            "\n"));
    fs::remove_all(last, error); // of a run that went on from an earlier one
    fs::rename(beside, last, error);
    if (error)
        return machineError("{}: {}", last.string(), error.message());
    const auto all = allOf(folder);
    for (std::size_t i = static_cast<std::size_t>(std::max<std::int64_t>(kept, 1)); i < all.size();
         ++i)
        fs::remove_all(all[i].folder, error);
    return {};
}

std::optional<Checkpoint> newestCheckpoint(const fs::path &run,
                                           const std::function<void(const std::string &)> &note) {
    for (const auto &found : allOf(checkpointFolder(run, 0).parent_path())) {
        auto checkpoint = opened(found);
        if (checkpoint)
            return std::move(*checkpoint);
        if (note)
            note(checkpoint.error().message);
    }
    return std::nullopt;
}

} // namespace cuda_agent::learn
