// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/device/cpu_info.h"

#include <fstream>
#include <limits>
#include <thread>
#include <unistd.h>

namespace cuda_agent::device {

namespace {

/// The text after "key:" in a file like /proc/cpuinfo, or empty.
std::string valueAfter(const char *file, std::string_view key) {
    std::ifstream stream(file);
    for (std::string line; std::getline(stream, line);) {
        const auto colon = line.find(':');
        if (colon == std::string::npos || !line.starts_with(key))
            continue;
        const auto start = line.find_first_not_of(" \t", colon + 1);
        return start == std::string::npos ? std::string() : line.substr(start);
    }
    return {};
}

std::optional<std::uint64_t> numberIn(const std::string &file) {
    std::ifstream stream(file);
    std::uint64_t value = 0;
    if (!(stream >> value))
        return std::nullopt;
    return value;
}

std::string architecture() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        return "x86-64-v4";
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("bmi2"))
        return "x86-64-v3";
    return __builtin_cpu_supports("sse4.2") ? "x86-64-v2" : "x86-64";
#elif defined(__aarch64__)
    return "aarch64";
#else
    return "host";
#endif
}

/// Size of the outermost data cache.
std::uint64_t lastLevelCache() {
    std::uint64_t size = 0;
    for (int i = 0; i < 8; ++i) {
        const auto folder = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", i);
        std::ifstream stream(folder + "size");
        std::uint64_t value = 0;
        std::string unit;
        if (stream >> value >> unit)
            size = std::max(size, value << (unit == "M" ? 20 : 10));
    }
    if (size == 0)
        size = static_cast<std::uint64_t>(std::max(sysconf(_SC_LEVEL3_CACHE_SIZE), 0l));
    return size > 0 ? size : 8ull << 20;
}

} // namespace

Info inspectCpu() {
    Info info;
    info.kind = Kind::cpu;
    info.name = valueAfter("/proc/cpuinfo", "model name");
    if (info.name.empty())
        info.name = "CPU";
    info.architecture = architecture();
    info.multiprocessors = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    info.memoryBytes = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                       static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE));
    info.cacheBytes = lastLevelCache();
    info.sharedBytesPerBlock = 227u << 10; // what a Hopper block may ask for; the host has room
    return info;
}

std::uint64_t freeHostBytes() {
    std::uint64_t available = std::numeric_limits<std::uint64_t>::max();
    const auto text = valueAfter("/proc/meminfo", "MemAvailable");
    if (!text.empty())
        available = std::strtoull(text.c_str(), nullptr, 10) << 10;
    constexpr std::pair<const char *, const char *> groups[] = {
        {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
        {"/sys/fs/cgroup/memory/memory.limit_in_bytes",
         "/sys/fs/cgroup/memory/memory.usage_in_bytes"}};
    for (const auto &[limitFile, usageFile] : groups) {
        const auto limit = numberIn(limitFile); // "max" is not a number
        const auto usage = numberIn(usageFile);
        if (limit && usage)
            available = std::min(available, *limit > *usage ? *limit - *usage : 0);
    }
    return available;
}

} // namespace cuda_agent::device
