// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/device/cpu_info.h"

#include <fstream>
#include <limits>
#include <sstream>
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
    for (const auto &cache : cpuCaches())
        size = std::max(size, cache.bytes);
    if (size == 0)
        size = static_cast<std::uint64_t>(std::max(sysconf(_SC_LEVEL3_CACHE_SIZE), 0l));
    return size > 0 ? size : 8ull << 20;
}

/// How many a list like "0-3,8" names; 1 when it names none.
int countOf(const std::string &list) {
    int count = 0;
    std::istringstream ranges(list);
    for (std::string range; std::getline(ranges, range, ',');) {
        int first = 0;
        int last = 0;
        const int read = std::sscanf(range.c_str(), "%d-%d", &first, &last);
        if (read >= 1)
            count += read == 2 && last >= first ? last - first + 1 : 1;
    }
    return std::max(count, 1);
}

} // namespace

std::vector<CpuCache> cpuCaches(const std::filesystem::path &folder) {
    std::vector<CpuCache> caches;
    for (int i = 0; i < 8; ++i) {
        const auto index = folder / fmt::format("index{}", i);
        const auto word = [&](const char *name) {
            std::ifstream stream(index / name);
            std::string text;
            stream >> text;
            return text;
        };
        CpuCache cache;
        const auto type = word("type");
        char unit = 'K';
        std::ifstream size(index / "size");
        if (!(size >> cache.bytes) || (type != "Data" && type != "Unified"))
            continue;
        size >> unit;
        cache.bytes <<= unit == 'G' ? 30 : unit == 'M' ? 20 : 10;
        cache.level = std::atoi(word("level").c_str());
        cache.sharers = countOf(word("shared_cpu_list"));
        if (cache.level > 0 && cache.bytes > 0)
            caches.push_back(cache);
    }
    std::ranges::sort(caches, {}, &CpuCache::level);
    return caches;
}

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
