// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/device/architectures.h"

#include "core/base/names.h"

#include <algorithm>
#include <array>

namespace cuda_agent::device {

namespace {

struct Row {
    int number;
    std::string_view name, generation, example;
    int warps, blocks;
    int sharedKilobytes, optInKilobytes;
    int barriersPerBlock; ///< named barriers of an SM over its most blocks; 0: no limit
    bool clusters;
};

// Columns as in the tables; 12.x is one column there.
constexpr auto rows = std::to_array<Row>({
    {75, "sm_75", "Turing", "T4, RTX 20", 32, 16, 64, 64, 0, false},
    {80, "sm_80", "Ampere", "A100", 64, 32, 164, 163, 0, false},
    {86, "sm_86", "Ampere", "A10, RTX 30", 48, 16, 100, 99, 0, false},
    {87, "sm_87", "Ampere", "Jetson Orin", 48, 16, 164, 163, 0, false},
    {89, "sm_89", "Ada", "L4, L40S, RTX 40", 48, 24, 100, 99, 0, false},
    {90, "sm_90", "Hopper", "H100, H200", 64, 32, 228, 227, 2, true},
    {100, "sm_100", "Blackwell", "B200", 64, 32, 228, 227, 2, true},
    {103, "sm_103", "Blackwell", "B300", 64, 32, 228, 227, 2, true},
    {110, "sm_110", "Blackwell", "Jetson Thor", 48, 24, 228, 227, 1, true},
    {120, "sm_120", "Blackwell", "RTX 50, RTX PRO 6000", 48, 24, 100, 99, 1, true},
    {121, "sm_121", "Blackwell", "GB10", 48, 24, 100, 99, 1, true},
});

constexpr Architecture make(const Row &row) {
    Architecture made;
    made.name = row.name;
    made.number = row.number;
    made.generation = row.generation;
    made.example = row.example;
    made.maxWarps = row.warps;
    made.maxBlocks = row.blocks;
    made.sharedBytes = row.sharedKilobytes << 10;
    made.sharedBytesPerBlockOptIn = row.optInKilobytes << 10;
    // From compute capability 8.0 on the system takes 1 KB of every block's.
    made.reservedSharedBytesPerBlock = row.number >= 80 ? 1 << 10 : 0;
    made.sharedUnit = row.number >= 80 ? 128 : 256;
    made.barriers = row.barriersPerBlock * row.blocks;
    made.clusterBlocks = row.clusters ? 8 : 1;
    return made;
}

constexpr auto table = [] {
    std::array<Architecture, rows.size()> made{};
    for (std::size_t i = 0; i < rows.size(); ++i)
        made[i] = make(rows[i]);
    return made;
}();

} // namespace

std::span<const Architecture> architectures() {
    return table;
}

const Architecture *findArchitecture(std::string_view name) {
    if (name.ends_with('a') || name.ends_with('f'))
        name.remove_suffix(1);
    const auto found = std::find_if(table.begin(), table.end(),
                                    [&](const auto &each) { return each.name == name; });
    return found == table.end() ? nullptr : &*found;
}

std::string architectureNames() {
    std::string names;
    for (const auto &each : table)
        names.append(names.empty() ? "" : ", ").append(each.name);
    return names;
}

Result<std::vector<const Architecture *>> parseArchitectures(std::string_view list) {
    std::vector<const Architecture *> found;
    if (list == "all") {
        for (const auto &each : table)
            found.push_back(&each);
        return found;
    }
    while (true) {
        const auto comma = list.find(',');
        auto name = list.substr(0, comma);
        while (name.starts_with(' '))
            name.remove_prefix(1);
        while (name.ends_with(' '))
            name.remove_suffix(1);
        if (name.empty())
            return requestError("an architecture is missing; known are {}, or all of them: all",
                                architectureNames());
        // A suffix asks for instructions of one generation alone; it is added where it is due.
        const auto *architecture = isDigit(name.back()) ? findArchitecture(name) : nullptr;
        if (!architecture)
            return requestError("the architecture '{}' is not known; known are {}, or all of them: "
                                "all",
                                name, architectureNames());
        if (std::find(found.begin(), found.end(), architecture) == found.end())
            found.push_back(architecture);
        if (comma == list.npos)
            return found;
        list.remove_prefix(comma + 1);
    }
}

} // namespace cuda_agent::device
