// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/crossing.h"

#include "core/policy/planner/schedule_space.h"

#include <algorithm>

namespace cuda_agent::policy {

namespace {

/// Whether a map may have a nest of which vectors go over the ends of loops: all that it writes is
/// even walks, and at most one large read is not, where elements have 32 bits: what is read one by
/// one lies apart for the lanes of a warp then.
bool mayCross(const Program &program, const Group &group, const Nest &nest) {
    std::size_t widest = 0;
    std::int64_t largest = 0;
    for (std::size_t i = 0; i < group.stores.size(); ++i) {
        const int buffer = group.stores[i].buffer;
        if (group.stores[i].adds() || nest.elementStride(nest.stores[i]) != 1)
            return false;
        widest = std::max(widest, sizeOf(program.buffers[buffer].dtype));
        largest = std::max(largest, program.bytesOf(buffer));
    }
    const auto large = std::ranges::count_if(nest.accesses, [&](const auto &entry) {
        const Value &value = program.values[entry.first];
        return value.kind == Kind::load && !nest.elementStride(entry.second) &&
               program.bytesOf(value.buffer) * 4 >= largest;
    });
    return widest <= 2 || (widest <= 4 && large <= 1);
}

} // namespace

std::optional<Nest> crossingNest(const Program &program, const Group &group, const Nest &plain,
                                 std::int64_t shortestRun) {
    constexpr int wanted = 4;
    constexpr std::int64_t longest = 1 << 27;
    if (group.hasReductions() || !group.scans.empty() || !group.orders.empty() || plain.tiled() ||
        plain.transposing)
        return {};
    int most = widestVector(program, {&group, plain, {}});
    if (most > 1)
        return {};
    std::optional<Nest> best;
    for (std::int64_t run = shortestRun; most < wanted;) {
        Nest nest = makeNest(program, group, run, true);
        nest.crossing = true;
        if (nest.elements() > longest || nest.elements() < shortestRun)
            break;
        const int width =
            mayCross(program, group, nest) ? widestVector(program, {&group, nest, {}}) : 0;
        const bool last = nest.rowDims().empty();
        run = nest.elements() + 1;
        if (width > most) {
            most = width;
            best = std::move(nest);
        }
        if (last)
            break;
    }
    return best;
}

} // namespace cuda_agent::policy
