// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/endurance/watch.h"

#include <algorithm>
#include <iterator>

namespace cuda_agent::endurance {

namespace {

constexpr std::size_t mostNamed = 5;
constexpr double mebibyte = 1 << 20;

std::string newItems(const std::multiset<std::string> &now,
                     const std::multiset<std::string> &then) {
    std::vector<std::string> fresh;
    std::ranges::set_difference(now, then, std::back_inserter(fresh));
    std::string text;
    for (std::size_t i = 0; i < fresh.size() && i < mostNamed; ++i)
        text += (i == 0 ? "" : ", ") + fresh[i];
    if (fresh.size() > mostNamed)
        text += fmt::format(" and {} more", fresh.size() - mostNamed);
    return text;
}

const std::multiset<std::string> &itemsOf(const Census &census, const std::string &kind) {
    static const std::multiset<std::string> none;
    const auto found = census.items.find(kind);
    return found == census.items.end() ? none : found->second;
}

} // namespace

double medianSlope(const std::vector<std::pair<double, double>> &points) {
    std::vector<double> slopes;
    for (std::size_t i = 0; i < points.size(); ++i)
        for (std::size_t j = i + 1; j < points.size(); ++j)
            if (points[j].first != points[i].first)
                slopes.push_back((points[j].second - points[i].second) /
                                 (points[j].first - points[i].first));
    if (slopes.empty())
        return 0;
    const auto middle = slopes.begin() + static_cast<std::ptrdiff_t>(slopes.size() / 2);
    std::nth_element(slopes.begin(), middle, slopes.end());
    return *middle;
}

void Watch::begin(Census normal) {
    first_ = normal;
    normal_ = std::move(normal);
    begun_ = true;
}

bool Watch::exceeds(const Census &census) const {
    for (const auto &[kind, items] : census.items)
        if (items.size() > normal_.count(kind))
            return true;
    if (census.sharedBytes > normal_.sharedBytes)
        return true;
    return census.freeBytes && normal_.freeBytes &&
           *census.freeBytes + bounds_.gpuBytes < *normal_.freeBytes;
}

std::vector<Finding> Watch::look(const Census &census, std::size_t done) {
    std::vector<Finding> found;
    for (const auto &[kind, items] : census.items) {
        const auto &normal = itemsOf(normal_, kind);
        if (items.size() <= normal.size())
            continue;
        found.push_back({kind, done,
                         fmt::format("{} {} where {} are normal; new: {}", items.size(), kind,
                                     normal.size(), newItems(items, normal))});
        normal_.items[kind] = items;
    }
    if (census.sharedBytes > normal_.sharedBytes) {
        found.push_back({"shared mappings", done,
                         fmt::format("{:.1f} MiB are mapped where {:.1f} are normal",
                                     static_cast<double>(census.sharedBytes) / mebibyte,
                                     static_cast<double>(normal_.sharedBytes) / mebibyte)});
        normal_.sharedBytes = census.sharedBytes;
    }
    if (census.freeBytes && normal_.freeBytes &&
        *census.freeBytes + bounds_.gpuBytes < *normal_.freeBytes) {
        found.push_back(
            {"GPU memory", done,
             fmt::format("{:.0f} MiB less free than is normal",
                         static_cast<double>(*normal_.freeBytes - *census.freeBytes) / mebibyte)});
        normal_.freeBytes = census.freeBytes;
    }
    if (census.cacheBytes > bounds_.cacheBytes) {
        found.push_back({"cache size", done,
                         fmt::format("{:.0f} MiB of compiled kernels on disk",
                                     static_cast<double>(census.cacheBytes) / mebibyte)});
        bounds_.cacheBytes = 2 * census.cacheBytes;
    }
    const auto at = static_cast<double>(done);
    resident_.emplace_back(at, static_cast<double>(census.residentBytes));
    heap_.emplace_back(at, static_cast<double>(census.heapBytes));
    return found;
}

std::vector<Finding> Watch::finish() const {
    std::vector<Finding> found;
    const auto hold = [&](const char *kind, const auto &points, double perThousand, double least) {
        if (points.size() < 2)
            return;
        const double slope = medianSlope(points);
        const double growth = slope * (points.back().first - points.front().first);
        if (slope * 1000 > perThousand && growth > least)
            found.push_back(
                {kind, static_cast<std::size_t>(points.back().first),
                 fmt::format("grows by {:.2f} MiB per 1,000 candidates where {:.2f} are allowed",
                             slope * 1000 / mebibyte, perThousand / mebibyte)});
    };
    hold("resident memory", resident_, bounds_.residentPerThousand, bounds_.residentLeast);
    hold("heap", heap_, bounds_.heapPerThousand, bounds_.heapLeast);
    return found;
}

} // namespace cuda_agent::endurance
