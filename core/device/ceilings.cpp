// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/device/ceilings.h"

#include "core/base/hash.h"
#include "core/base/paths.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#ifndef __has_feature // a compiler that tells by macros
#define __has_feature(name) 0
#endif

namespace cuda_agent::device {

namespace {

constexpr int version = 4; ///< raised when the way of measuring changes

/// What a program that is built to find faults measures is no ceiling of the machine, and must not
/// become that of others.
#if !defined(__OPTIMIZE__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||     \
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr const char *build = "\ninstrumented";
#else
constexpr const char *build = "";
#endif

/// A negative number where there is no plausible one.
double rateAt(const Json &json, const char *key) {
    const auto entry = json.find(key);
    const double value = entry != json.end() && entry->is_number() ? entry->get<double>() : -1.0;
    return std::isfinite(value) ? value : -1.0;
}

std::optional<MemoryLevel> levelFromJson(const Json &json) {
    if (!json.is_object())
        return std::nullopt;
    const auto name = json.find("name");
    const auto bytes = json.find("bytes");
    MemoryLevel level;
    level.bytesPerSecond = rateAt(json, "bytes_per_second");
    if (name == json.end() || !name->is_string() || bytes == json.end() ||
        !bytes->is_number_integer() || *bytes < 0 || !(level.bytesPerSecond > 0))
        return std::nullopt;
    level.name = name->get<std::string>();
    level.bytes = bytes->get<std::uint64_t>();
    return level;
}

std::filesystem::path fileOf(const Info &info) {
    const auto hash = sha256Hex(fmt::format("{}\n{}\n{}\n{}{}", info.name, info.architecture,
                                            info.multiprocessors, info.driverVersion, build));
    return cacheDir() / fmt::format("ceilings-{}.json", hash.substr(0, 16));
}

void keep(const Info &info, const Ceilings &ceilings) {
    std::error_code error;
    std::filesystem::create_directories(cacheDir(), error);
    Json json = toJson(ceilings);
    json["version"] = version;
    json["device"] = info.name;
    json["driver"] = info.driverVersion;
    (void)writeFileAtomically(fileOf(info), json.dump(2) + "\n");
}

} // namespace

std::optional<Ceilings> knownCeilings(const Info &info) {
    const auto json = readJsonFile(fileOf(info));
    if (!json || !json->is_object() || json->value("version", Json()) != version)
        return std::nullopt;
    return ceilingsFromJson(*json);
}

Result<Ceilings> cachedCeilings(const Info &info,
                                const std::function<Result<Ceilings>()> &measure) {
    if (auto known = knownCeilings(info))
        return *known;
    CUDA_AGENT_ASSIGN(ceilings, measure());
    keep(info, ceilings);
    return ceilings;
}

Result<Ceilings> Device::ceilings() {
    return cachedCeilings(info(), [this] { return measureCeilings(); });
}

Result<Ceilings> raiseCeilings(Device &device, const Ceilings &known) {
    CUDA_AGENT_ASSIGN(raised, device.measureCeilings());
    const auto raise = [&](double Ceilings::*rate) {
        raised.*rate = std::max(raised.*rate, known.*rate);
    };
    raise(&Ceilings::copyBytesPerSecond);
    raise(&Ceilings::fp32FlopsPerSecond);
    raise(&Ceilings::tf32FlopsPerSecond);
    raise(&Ceilings::halfFlopsPerSecond);
    for (auto &level : raised.levels) {
        const auto same = std::ranges::find(known.levels, level.name, &MemoryLevel::name);
        if (same != known.levels.end())
            level.bytesPerSecond = std::max(level.bytesPerSecond, same->bytesPerSecond);
    }
    raised.launchSeconds = std::min(raised.launchSeconds, known.launchSeconds);
    keep(device.info(), raised);
    return raised;
}

double bestTotalRate(int threads, const std::function<double(int thread)> &batch) {
    using Clock = std::chrono::steady_clock;
    double best = 0;
    for (int attempt = 0; attempt < 3; ++attempt) {
        std::vector<double> rates(static_cast<std::size_t>(threads));
        std::vector<std::thread> workers;
        const auto end = Clock::now() + std::chrono::milliseconds(50);
        for (int i = 0; i < threads; ++i)
            workers.emplace_back([&rate = rates[static_cast<std::size_t>(i)], &batch, i, end] {
                const auto start = Clock::now();
                double work = 0;
                while (Clock::now() < end)
                    work += batch(i);
                const std::chrono::duration<double> spent = Clock::now() - start;
                rate = spent.count() > 0 ? work / spent.count() : 0;
            });
        for (auto &worker : workers)
            worker.join();
        double total = 0;
        for (const double rate : rates)
            total += rate;
        best = std::max(best, total);
    }
    return best;
}

Json toJson(const Ceilings &ceilings) {
    Json levels = Json::array();
    for (const auto &level : ceilings.levels)
        levels.push_back({{"name", level.name},
                          {"bytes", level.bytes},
                          {"bytes_per_second", level.bytesPerSecond}});
    return {{"copy_bytes_per_second", ceilings.copyBytesPerSecond},
            {"fp32_flops_per_second", ceilings.fp32FlopsPerSecond},
            {"tf32_flops_per_second", ceilings.tf32FlopsPerSecond},
            {"half_flops_per_second", ceilings.halfFlopsPerSecond},
            {"launch_seconds", ceilings.launchSeconds},
            {"levels", std::move(levels)}};
}

std::optional<Ceilings> ceilingsFromJson(const Json &json) {
    if (!json.is_object())
        return std::nullopt;
    Ceilings ceilings{rateAt(json, "copy_bytes_per_second"),
                      rateAt(json, "fp32_flops_per_second"),
                      rateAt(json, "tf32_flops_per_second"),
                      rateAt(json, "half_flops_per_second"),
                      {},
                      rateAt(json, "launch_seconds")};
    const auto levels = json.find("levels");
    if (!(ceilings.copyBytesPerSecond > 0) || ceilings.fp32FlopsPerSecond < 0 ||
        ceilings.tf32FlopsPerSecond < 0 || ceilings.halfFlopsPerSecond < 0 ||
        ceilings.launchSeconds < 0 || levels == json.end() || !levels->is_array())
        return std::nullopt;
    for (const auto &entry : *levels) {
        auto level = levelFromJson(entry);
        if (!level)
            return std::nullopt;
        ceilings.levels.push_back(std::move(*level));
    }
    return ceilings;
}

} // namespace cuda_agent::device
