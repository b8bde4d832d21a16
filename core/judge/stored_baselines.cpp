// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/judge/stored_baselines.h"

#include "core/base/hash.h"

namespace cuda_agent::judge {

namespace {

constexpr int version = 1; ///< raised when the way of measuring changes

} // namespace

Result<std::filesystem::path> baselinesFile(const task::Spec &spec, const device::Info &device,
                                            const Options &options) {
    CUDA_AGENT_ASSIGN(text, readTextFile(spec.file));
    const Json key{{"task", sha256Hex(text)},
                   {"overrides", spec.overrides},
                   {"numerics", task::nameOf(options.numerics)},
                   {"max_autotune", options.maxAutotune},
                   {"device", device.name},
                   {"architecture", device.architecture},
                   {"multiprocessors", device.multiprocessors},
                   {"driver", device.driverVersion}};
    return options.baselines /
           fmt::format("{}-{}.json", spec.name(), sha256Hex(key.dump()).substr(0, 16));
}

std::optional<StoredBaselines> readBaselines(const std::filesystem::path &file,
                                             const Options &options) {
    const auto json = readJsonFile(file);
    if (!json || !json->is_object() || json->value("version", Json()) != version)
        return std::nullopt;
    const auto found = json->find("baselines");
    const auto versions = json->find("versions");
    const auto time = json->find("time");
    if (found == json->end() || versions == json->end() || !versions->is_string() ||
        time == json->end() || !time->is_number_integer())
        return std::nullopt;
    const auto strength = json->value("strength", "full") == "full" ? verify::Strength::full
                                                                    : verify::Strength::training;
    if (strength != verify::Strength::full && options.strongest == verify::Strength::full)
        return std::nullopt;
    auto baselines = timing::baselinesFromJson(*found);
    if (!baselines || baselines->estimates.empty())
        return std::nullopt;
    return StoredBaselines{std::move(*baselines), versions->get<std::string>(),
                           time->get<std::int64_t>(), strength};
}

Result<void> writeBaselines(const std::filesystem::path &file, const StoredBaselines &stored) {
    std::error_code error;
    std::filesystem::create_directories(file.parent_path(), error);
    const Json json{{"version", version},
                    {"versions", stored.versions},
                    {"time", stored.time},
                    {"strength", verify::nameOf(stored.strength)},
                    {"baselines", timing::toJson(stored.baselines)}};
    return writeFileAtomically(file, json.dump(1) + "\n");
}

} // namespace cuda_agent::judge
