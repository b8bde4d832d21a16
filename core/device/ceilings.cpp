// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/device/ceilings.h"

#include "core/base/hash.h"
#include "core/base/paths.h"

#include <cmath>

namespace cuda_agent::device {

namespace {

constexpr int version = 2; ///< raised when the way of measuring changes

bool plausible(double value) {
    return std::isfinite(value) && value >= 0;
}

std::optional<Ceilings> readCeilings(const std::filesystem::path &file) {
    const auto json = readJsonFile(file);
    if (!json || !json->is_object() || json->value("version", Json()) != version)
        return std::nullopt;
    const auto number = [&](const char *key) {
        const auto entry = json->find(key);
        return entry != json->end() && entry->is_number() ? entry->get<double>() : -1.0;
    };
    const Ceilings ceilings{number("copy_bytes_per_second"), number("fp32_flops_per_second"),
                            number("tf32_flops_per_second")};
    if (!(ceilings.copyBytesPerSecond > 0) || !plausible(ceilings.fp32FlopsPerSecond) ||
        !plausible(ceilings.tf32FlopsPerSecond))
        return std::nullopt;
    return ceilings;
}

} // namespace

Result<Ceilings> cachedCeilings(const Info &info,
                                const std::function<Result<Ceilings>()> &measure) {
    const auto hash = sha256Hex(fmt::format("{}\n{}\n{}\n{}", info.name, info.architecture,
                                            info.multiprocessors, info.driverVersion));
    const auto file = cacheDir() / fmt::format("ceilings-{}.json", hash.substr(0, 16));
    if (auto known = readCeilings(file))
        return *known;
    CUDA_AGENT_ASSIGN(ceilings, measure());
    std::error_code error;
    std::filesystem::create_directories(cacheDir(), error);
    Json json = toJson(ceilings);
    json["version"] = version;
    json["device"] = info.name;
    json["driver"] = info.driverVersion;
    (void)writeFileAtomically(file, json.dump(2) + "\n");
    return ceilings;
}

Json toJson(const Ceilings &ceilings) {
    return {{"copy_bytes_per_second", ceilings.copyBytesPerSecond},
            {"fp32_flops_per_second", ceilings.fp32FlopsPerSecond},
            {"tf32_flops_per_second", ceilings.tf32FlopsPerSecond}};
}

} // namespace cuda_agent::device
