// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/order.h"
#include "core/policy/planner/schedule_space.h"

#include <bit>

namespace cuda_agent::policy {

std::vector<int> orderedDims(const Group &group, const Nest &nest, bool places) {
    std::vector<int> dims = nest.elementDims();
    std::erase_if(dims,
                  [&](int d) { return group.places.contains(nest.dims[d].axes.back()) != places; });
    return dims;
}

OrderShape orderShape(const Program &program, const Group &group, const Nest &nest) {
    const Value &order = program.values[group.orders[0]];
    OrderShape shape;
    shape.first = order.first;
    const std::vector<int> elements = orderedDims(group, nest, false);
    const std::vector<int> places = orderedDims(group, nest, true);
    for (const int d : elements)
        shape.length *= nest.dims[d].size;
    for (const int d : places)
        shape.count *= nest.dims[d].size;
    shape.bytes = sizeOf(program.values[order.args[0]].dtype) == 8 ? 16 : 8;
    const std::vector<int> rows = nest.rowDims();
    if (rows.empty())
        return shape;
    const auto across = [&](const Access &access, const std::vector<int> &dims) {
        return access.strides[rows.back()] == 1 && !dims.empty() && access.strides[dims.back()] > 1;
    };
    for (const auto &[id, access] : nest.accesses)
        shape.readsAcross = shape.readsAcross ||
                            (program.values[id].kind == Kind::load && across(access, elements));
    for (const Access &access : nest.stores)
        shape.writesAcross = shape.writesAcross || across(access, places);
    return shape;
}

namespace {

Schedule schedule(int threads, std::int64_t chunk, std::int64_t rows, int levels) {
    Schedule s;
    s.form = Schedule::Form::order;
    s.threads = s.team = threads;
    s.chunk = static_cast<int>(chunk);
    s.rowsEach = static_cast<int>(rows);
    s.unroll = levels;
    return s;
}

/// Seconds that the network of one tile of each row takes, by what goes through shared memory.
double networkSeconds(const OrderShape &shape, double rows, std::int64_t chunk, int levels,
                      int processors) {
    constexpr double sharedBytesPerSecond = 128 * 1.6e9; // of a multiprocessor
    const auto run = powerOfTwo(std::min(shape.kept(), chunk));
    double passes = 0;
    for (std::int64_t half = 1; half < run; half *= 2)
        passes += (std::bit_width(static_cast<std::uint64_t>(half)) + levels - 1) / levels;
    if (run < chunk) // what is left is halved each time
        passes += 1 + (std::bit_width(static_cast<std::uint64_t>(run)) + levels - 1) / levels;
    const double tiles = static_cast<double>((shape.length + chunk - 1) / chunk);
    return rows * tiles * static_cast<double>(chunk * shape.bytes) * 2 * passes /
           (sharedBytesPerSecond * processors);
}

std::vector<Option> cpuOptions(const OrderShape &shape, std::int64_t most) {
    std::vector<Option> out;
    const auto offer = [&](std::int64_t chunk) {
        chunk = std::min({chunk, most / 2, shape.length});
        const Schedule s = schedule(1, chunk, 1, 1);
        if (std::any_of(out.begin(), out.end(), [&](const Option &o) { return o.schedule == s; }))
            return;
        const bool whole = chunk == shape.length;
        out.push_back({s, whole ? 1.0 : 3.0,
                       whole ? std::string("a thread puts each row in order")
                             : fmt::format("a thread puts {} elements in order, further kernels "
                                           "merge them two by two",
                                           chunk)});
    };
    for (const std::int64_t chunk : {shape.length, std::int64_t{4096}, std::int64_t{1024}})
        offer(chunk);
    return out;
}

} // namespace

std::vector<Option> orderOptions(const Program &program, const ScheduledGroup &group,
                                 const device::Info &device) {
    const OrderShape shape = orderShape(program, *group.group, group.nest);
    if (shape.length >= std::int64_t{1} << 31)
        return {};
    const auto shared = static_cast<std::int64_t>(device.sharedBytesPerBlock);
    const std::int64_t most = std::max<std::int64_t>(shared, 48 << 10) / shape.bytes;
    if (device.kind == device::Kind::cpu)
        return cpuOptions(shape, most);
    std::vector<Option> out;
    const std::int64_t padded = powerOfTwo(shape.length), rows = powerOfTwo(group.nest.rows());
    const bool across = shape.readsAcross || shape.writesAcross;
    constexpr std::int64_t sector = 8; // neighbouring rows that fill what memory hands over at once
    const auto offer = [&](std::int64_t elements, int levels) {
        std::int64_t chunk = std::min(padded, elements);
        std::int64_t each = std::max<std::int64_t>(1, elements / chunk);
        if (across && chunk == padded)
            each = std::max(each, sector);
        each = std::min(each, rows);
        if (each * chunk > most || each * chunk < 1 << levels)
            return;
        const auto threads = std::clamp<std::int64_t>((each * chunk) >> levels, 32, 1024);
        const Schedule s = schedule(static_cast<int>(threads), chunk, each, levels);
        if (std::any_of(out.begin(), out.end(), [&](const Option &o) { return o.schedule == s; }))
            return;
        double traffic = 1;
        for (std::int64_t run = chunk; run < shape.length; run *= 2)
            traffic += 3;
        const std::string network = fmt::format("in shared memory, {} steps at once", levels);
        out.push_back({s, traffic,
                       chunk < padded
                           ? fmt::format("blocks put {} elements in order {}; further "
                                         "kernels merge them two by two",
                                         chunk, network)
                           : fmt::format("a block puts {} row(s) in order {}", each, network),
                       networkSeconds(shape, static_cast<double>(group.nest.rows()), chunk, levels,
                                      std::max(1, device.multiprocessors))});
    };
    // The whole row where it fits, alone or with others.
    constexpr std::int64_t enough = 2048;
    const std::int64_t least =
        padded <= most ? std::max(padded, enough) : std::min<std::int64_t>(4096, most);
    for (const auto &[times, levels] :
         {std::pair{1, 3}, {2, 3}, {1, 2}, {1, 4}, {2, 4}, {4, 3}, {1, 1}})
        offer(powerOfTwo(least) * times, levels);
    if (padded > enough) {
        for (const int levels : {3, 4})
            offer(enough, levels);
    }
    if (out.empty()) // rows of two elements
        offer(padded, 1);
    return out;
}

} // namespace cuda_agent::policy
