// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/runs.h"
#include "core/policy/planner/schedule_facts.h"

#include <array>

namespace cuda_agent::policy {

namespace {

using Form = Schedule::Form;

// --- GPU -------------------------------------------------------------------------------------

/// A thread to a row: it has its elements in one run of memory, and its neighbours' in others.
void transposingOptions(const Facts &f, std::vector<Option> &out) {
    for (const auto &[threads, vector, most] : {std::tuple{256, f.vector, 8},
                                                {128, f.vector, 8},
                                                {256, f.vector, 2},
                                                {256, f.vector, 16},
                                                {512, f.vector, 4},
                                                {256, 1, 8}}) {
        const int unroll =
            static_cast<int>(std::min<std::int64_t>(most, ceilDivide(f.elements, vector)));
        const Schedule s = rowSchedule(threads, 1, vector, unroll);
        offer(out, option(s, 1,
                          fmt::format("a thread moves {} elements that lie together on one "
                                      "side and far apart on the other",
                                      f.elements)));
    }
}

/// A piece of two loops through shared memory, in the order of what was fastest on tensors of 0.1
/// to 4 GB on an H200.
void tileOptions(const Facts &f, std::vector<Option> &out) {
    const auto length = [&](const std::vector<int> &dims) {
        std::int64_t product = 1;
        for (const int d : dims)
            product *= f.nest.dims[d].size;
        return product;
    };
    const std::int64_t across = powerOfTwo(length(f.nest.across));
    const std::int64_t along = powerOfTwo(length(f.nest.along));
    constexpr int vector = 4, sharedBytes = 48 << 10;
    // 16 elements a thread keep enough in flight; single elements on the side of the writes want
    // large blocks, which take longer runs of them at once.
    std::vector<std::array<int, 3>> shapes{{256, 32, 128}, {128, 32, 64}, {512, 32, 128},
                                           {128, 32, 128}, {128, 32, 32}, {256, 32, 64},
                                           {256, 64, 64},  {512, 32, 256}};
    if (length(f.nest.along) % vector != 0)
        std::rotate(shapes.begin(), shapes.begin() + 2, shapes.begin() + 3);
    for (const auto &[threads, wantedAcross, wantedAlong] : shapes) {
        Schedule s;
        s.form = Form::tile;
        s.vector = vector;
        s.across = static_cast<int>(std::min<std::int64_t>(wantedAcross, across));
        s.along = static_cast<int>(std::min<std::int64_t>(wantedAlong, along));
        const int each = std::max(2 * vector, wantedAcross * wantedAlong / threads);
        s.threads = s.team = std::max(64, s.across * s.along / each);
        if ((s.across + 1) * s.along * f.stagedBytes <= sharedBytes)
            offer(out, option(s, 1,
                              fmt::format("tiles of {} by {} elements go through shared memory, "
                                          "so that both sides are read and written in runs",
                                          s.along, s.across)));
    }
}

/// A thread takes several rows, one after the other, of which something is the same.
void rowsTogether(const Facts &f, std::vector<Option> &out) {
    const SharedLoop &loop = f.shared;
    if (loop.counts.empty() || (loop.overlapping && f.vector == 1))
        return;
    const std::vector<int> rows = f.nest.rowDims();
    const auto name = std::ranges::find(rows, loop.dim) - rows.begin();
    const auto together = [&](int count, int unroll) {
        Schedule s = rowSchedule(128, 128, f.vector, unroll, 0);
        s.rowsEach = count;
        return option(s, 1, fmt::format("one pass, {} rows along k{} at a time", count, name));
    };
    std::vector<Option> offers{together(loop.counts[0], 1)};
    if (!loop.overlapping && f.vector < 4)
        offers.push_back(together(loop.counts[0], 4));
    // Measured on an H200: what little is computed hides behind what is read, and rows that wait
    // for each other need enough blocks beside them.
    constexpr double worthwhile = 12;
    const bool shares = loop.overlapping || loop.work >= worthwhile;
    const std::int64_t blocks = f.rows * f.elements / loop.counts[0] / (128 * f.vector);
    const bool first = shares && blocks >= 16ll * f.processors;
    if (first && !loop.overlapping && loop.counts.size() > 1)
        offers.push_back(together(loop.counts[1], 1));
    out.insert(first ? out.begin() : out.end(), offers.begin(), offers.end());
}

void mapOptions(const Facts &f, std::vector<Option> &out) {
    if (f.nest.tiled())
        return tileOptions(f, out);
    if (f.nest.transposing)
        return transposingOptions(f, out);
    const bool open = f.nest.openLength();
    if (!open && !f.nest.rowDims().empty() && f.elements < 256 * f.vector) {
        // Short rows: several per block. As few lanes idle as can be, then as few loads wait for
        // each other; a team reads whole lines.
        const std::int64_t vectors = ceilDivide(f.elements, f.vector);
        constexpr std::int64_t most = 256, least = 8, deepest = 8;
        const std::int64_t widest = std::min(most, powerOfTwo(vectors));
        std::vector<Option> teams;
        for (std::int64_t team = widest;
             team >= std::min(least, widest) && ceilDivide(vectors, team) <= deepest; team /= 2)
            teams.push_back(
                option(rowSchedule(static_cast<int>(most), static_cast<int>(team), f.vector,
                                   static_cast<int>(ceilDivide(vectors, team))),
                       1, fmt::format("short rows, {} threads to each", team)));
        std::ranges::stable_sort(
            teams, {}, [](const Option &o) { return o.schedule.team * o.schedule.unroll; });
        out.insert(out.end(), teams.begin(), teams.end());
        return;
    }
    struct Shape {
        int threads, unroll;
    };
    std::vector<Shape> shapes =
        f.vector >= 4
            ? std::vector<Shape>{{128, 1}, {256, 1}, {256, 2}, {512, 1}, {256, 4}, {512, 2}}
            : std::vector<Shape>{{128, 8}, {256, 8}, {256, 4}, {512, 4}, {256, 2}};
    if (f.vector == 4) {
        // Two vectors hide what computing takes, and are no slower where little is computed, but
        // where that leaves multiprocessors without enough blocks.
        constexpr std::int64_t enoughBlocks = 8;
        const bool few = f.rows * f.elements < enoughBlocks * f.processors * 128 * 2 * f.vector;
        shapes.insert(shapes.begin() + (few ? 1 : 0), {128, 2});
        shapes.push_back({128, 4});
    }
    if (f.gathers && f.vector >= 4) // what one of a block fetches, others find in the cache
        shapes.insert(shapes.begin(), {512, 1});
    for (const Shape &shape : shapes) {
        const std::int64_t tile =
            static_cast<std::int64_t>(shape.threads) * shape.unroll * f.vector;
        if (!open && tile > f.elements && shape.threads > 128)
            continue;
        offer(out, option(rowSchedule(shape.threads, shape.threads, f.vector, shape.unroll, 0), 1,
                          fmt::format("one pass, {} loads of {} elements in flight a thread",
                                      shape.unroll * f.arrays, f.vector)));
    }
    for (const int unroll : {1, 2, 4}) {
        Schedule s = rowSchedule(256, 256, f.vector, unroll, 0);
        s.streaming = true;
        if (f.vector > 1)
            out.push_back(option(s, 1, "one pass, streaming stores"));
    }
    rowsTogether(f, out);
}

void columnOptions(const Facts &f, std::vector<Option> &out) {
    const bool again = f.passes + (f.elementResults ? 1 : 0) > 1;
    const auto make = [&](int threads, int lanesY, int vector, int unroll, std::int64_t parts) {
        Schedule s;
        s.form = Form::column;
        s.threads = s.team = threads;
        s.lanesY = lanesY;
        s.vector = vector;
        s.unroll = unroll;
        s.parts = parts;
        return s;
    };
    // Kept in registers.
    if (again) {
        for (const auto &[threads, lanesY, vector] : {std::tuple{256, 1, 1},
                                                      {128, 1, 1},
                                                      {256, 4, 1},
                                                      {256, 4, f.vector},
                                                      {256, 8, 1},
                                                      {128, 1, 2},
                                                      {256, 8, f.vector},
                                                      {512, 16, 1},
                                                      {512, 16, f.vector}}) {
            const std::int64_t each = ceilDivide(f.elements, lanesY) * vector * f.arrays;
            if (each > 80 || vector > f.vector)
                continue;
            Schedule s =
                make(threads, lanesY, vector, static_cast<int>(ceilDivide(f.elements, lanesY)), 1);
            s.staged = true;
            offer(out, option(s, 1, "one read: each thread keeps its column in registers"));
        }
    }
    const double traffic = again ? 1.5 : 1;
    // Short windows: all of one in flight, by one thread each.
    constexpr std::int64_t shortWindow = 32;
    if (!again && f.elements <= shortWindow &&
        f.rows >= static_cast<std::int64_t>(f.processors) * 512) {
        // Those one below the other share what they read.
        constexpr std::int64_t mostTogether = 160;
        std::vector<Option> sharing;
        for (const int below : {6, 8, 5, 7, 4, 3, 2}) {
            if (f.overlapping % below != 0 || f.overlapping == 0 ||
                below * f.elements > mostTogether ||
                f.rows / below < static_cast<std::int64_t>(f.processors) * 512)
                continue;
            Schedule s = make(256, 1, 1, static_cast<int>(f.elements), 1);
            s.rowsEach = below;
            sharing.push_back(option(s, 1,
                                     fmt::format("a thread takes {} windows of {} elements one "
                                                 "below the other, which share what they read",
                                                 below, f.elements)));
            if (sharing.size() >= 2)
                break;
        }
        const auto add = [&](int threads, int vector) {
            offer(out, option(make(threads, 1, vector, static_cast<int>(f.elements), 1), 1,
                              fmt::format("a thread takes {} windows of {} elements, all in flight",
                                          vector, f.elements)));
        };
        if (f.wideReads) { // each element of a window then is read as a vector
            add(128, f.vector);
            add(256, f.vector);
        }
        out.insert(out.end(), sharing.begin(), sharing.end());
        for (const auto &[threads, vector] :
             {std::pair{256, 1}, {256, f.vector}, {128, f.vector}, {128, 1}, {512, 1}})
            add(threads, vector);
    }
    std::vector<Option> walks;
    for (const auto &[threads, lanesY, vector, unroll] : {std::tuple{256, 1, 1, 8},
                                                          {256, 4, 1, 8},
                                                          {256, 2, 1, 8},
                                                          {256, 1, 1, 16},
                                                          {512, 8, 1, 8},
                                                          {256, 8, 1, 16},
                                                          {128, 1, 1, 8},
                                                          {256, 4, f.vector, 4},
                                                          {256, 8, f.vector, 4},
                                                          {512, 16, 1, 8},
                                                          {1024, 16, 1, 4}}) {
        if (static_cast<std::int64_t>(lanesY) * unroll > 2 * f.elements)
            continue;
        const Schedule s = make(threads, lanesY, vector, unroll, 1);
        offer(walks, option(s, traffic,
                            fmt::format("{} threads to a column, {} loads in flight each", lanesY,
                                        unroll)));
    }
    // Too few columns to fill the device: more threads to a column first.
    if (f.rows < static_cast<std::int64_t>(f.processors) * 1024)
        std::stable_sort(walks.begin(), walks.end(), [](const Option &a, const Option &b) {
            return a.schedule.lanesY > b.schedule.lanesY;
        });
    out.insert(out.end(), walks.begin(), walks.end());
    if (walks.empty())
        out.push_back(option(make(256, 1, 1, 1, 1), traffic, "one thread to a column"));
    if (f.passes == 1 && !f.elementResults) {
        std::vector<Option> split;
        for (const auto &[threads, lanesY, vector, unroll] :
             {std::tuple{256, 4, 1, 8}, {256, 8, f.vector, 4}, {512, 8, 1, 8}}) {
            const std::int64_t wanted = ceilDivide(static_cast<std::int64_t>(f.processors) * 2048 /
                                                       threads * threads / lanesY,
                                                   f.rows / vector + 1);
            const std::int64_t most = f.elements / (static_cast<std::int64_t>(lanesY) * unroll);
            const std::int64_t parts = std::min<std::int64_t>({wanted, most, 1024});
            if (parts >= 2)
                split.push_back(option(make(threads, lanesY, vector, unroll, parts), 1,
                                       fmt::format("columns in {} parts, combined by a second "
                                                   "kernel",
                                                   parts)));
        }
        const bool few = f.rows < static_cast<std::int64_t>(f.processors) * 256;
        out.insert(few ? out.begin() : out.end(), split.begin(), split.end());
    }
}

/// Whether rows that follow each other along a loop read the same elements.
bool overlaps(const Nest &nest, const Access &access, int loop) {
    const std::int64_t step = access.strides[loop];
    const std::vector<int> elements = nest.elementDims();
    return step > 0 && std::any_of(elements.begin(), elements.end(), [&](int d) {
               return access.strides[d] > 0 && access.strides[d] % step == 0 &&
                      access.strides[d] * (nest.dims[d].size - 1) >= step;
           });
}

/// Whether the loops along the row, as they lie in memory, go through it in the scan's order.
bool inScanOrder(const Program &program, const ScheduledGroup &group) {
    Axes order;
    for (const int d : group.nest.elementDims()) {
        const Axes atoms = program.axes.atoms(group.nest.dims[d].axes);
        order.insert(order.end(), atoms.begin(), atoms.end());
    }
    return order == program.axes.atoms(program.values[group.group->scans[0]].axes);
}

void scanOptions(const Facts &f, bool cpu, std::vector<Option> &out) {
    const auto loop = [&](Form form, int threads, int chunk, std::string reason, int unroll = 1,
                          double traffic = 1) {
        Schedule s;
        s.form = form;
        s.threads = s.team = threads;
        s.chunk = chunk;
        s.unroll = unroll;
        offer(out, option(s, traffic, std::move(reason)));
    };
    const bool column = f.nest.column();
    if (cpu) {
        for (const int chunk : {256, 64}) {
            if (column)
                loop(Form::loopColumn, 1, chunk,
                     fmt::format("a thread walks along {} neighbouring rows", chunk));
        }
        loop(Form::loopRow, 1, 2048, "a thread walks along each row");
        return;
    }
    if (column) {
        // What all columns have in flight has to fill the memory's latency; more only takes
        // registers. Measured on an H200 with 28,000 to 6,200,000 columns of floats.
        constexpr std::int64_t inFlight = 3 << 20;
        const std::int64_t together = f.rows * std::max<std::int64_t>(f.elementBytes, 1);
        std::vector<std::pair<int, int>> shapes{{128, 8}, {256, 8}, {64, 8}, {128, 16},
                                                {128, 4}, {256, 4}, {128, 1}};
        if (together * 4 >= inFlight)
            shapes.insert(shapes.begin(), {{256, 4}, {128, 4}});
        else if (together * 8 < inFlight)
            shapes.insert(shapes.begin(), {{64, 32}, {128, 32}});
        for (const auto &[threads, unroll] : shapes) {
            if (unroll <= f.elements)
                loop(Form::loopRow, threads, 2048,
                     fmt::format("a thread walks along each column, {} elements in flight", unroll),
                     unroll,
                     unroll == 1                  ? 1.5
                     : unroll == shapes[0].second ? 1
                                                  : 1.1);
        }
        return;
    }
    // Short rows have a warp each, so that nothing waits for others; long ones fill a block.
    constexpr std::int64_t shortRow = 4096, mostEach = 16;
    const bool few = f.rows < static_cast<std::int64_t>(f.processors) * 16;
    std::vector<Option> warps;
    for (const auto &[threads, vector] : {std::pair{128, std::min(f.vector, 4)},
                                          {256, std::min(f.vector, 4)},
                                          {128, 1},
                                          {256, 1}}) {
        const auto unroll = static_cast<int>(
            std::min(mostEach / vector, ceilDivide(f.elements, std::int64_t{32} * vector)));
        if (f.elements <= shortRow)
            offer(warps, option(rowSchedule(threads, 32, vector, unroll), 1,
                                fmt::format("a warp carries each row on, {} elements a lane",
                                            unroll * vector)));
    }
    const int vector = std::min(f.vector > 1 ? f.vector : 4, 4);
    for (const auto &[threads, unroll] : {std::pair{256, 2},
                                          {256, 4},
                                          {512, 2},
                                          {512, 4},
                                          {1024, 1},
                                          {256, 1},
                                          {128, 4},
                                          {1024, 2}}) {
        if (!out.empty() && static_cast<std::int64_t>(threads) * vector * unroll > f.elements)
            continue;
        const bool idles = !few && threads * vector * unroll > 2 * f.elements;
        out.push_back(option(rowSchedule(threads, threads, vector, unroll), idles ? 1.5 : 1,
                             fmt::format("a block carries each row on in tiles of {} elements",
                                         threads * vector * unroll)));
    }
    out.insert(few ? out.end() : out.begin(), warps.begin(), warps.end());
}

// --- CPU -------------------------------------------------------------------------------------

/// The tile sizes that differ for a loop of that length: of those that hold all of it, the first.
std::vector<int> fittingChunks(std::initializer_list<int> chunks, std::int64_t length) {
    std::vector<int> result;
    bool whole = false;
    for (const int chunk : chunks) {
        if (chunk < length || !whole)
            result.push_back(chunk);
        whole = whole || chunk >= length;
    }
    return result;
}

void loopOptions(const Facts &f, std::vector<Option> &out) {
    const bool column = f.nest.column() && f.group.group->hasReductions();
    const auto make = [&](Form form, int chunk, std::int64_t parts) {
        Schedule s;
        s.form = form;
        s.chunk = chunk;
        s.parts = parts;
        s.threads = s.team = 1;
        return s;
    };
    if (!f.group.group->hasReductions()) {
        for (const int chunk : {16384, 4096, 65536})
            out.push_back(
                option(make(Form::loopRow, chunk, 0), 1,
                       fmt::format("a thread takes about {} elements in a plain loop", chunk)));
        return;
    }
    const bool splittable = f.passes == 1 && !f.elementResults;
    const std::vector<int> rowDims = f.nest.rowDims();
    const std::int64_t neighbours = rowDims.empty() ? 1 : f.nest.dims[rowDims.back()].size;
    if (column) {
        for (const int chunk : fittingChunks({256, 64, 1024}, neighbours))
            out.push_back(option(make(Form::loopColumn, chunk, 1), 1,
                                 fmt::format("a thread owns {} neighbouring columns", chunk)));
        const std::int64_t strips = ceilDivide(f.rows, 256);
        if (splittable && strips < 2 * f.processors) {
            const std::int64_t parts =
                std::min<std::int64_t>(f.nest.dims[f.nest.elementDims()[0]].size, 4 * f.processors);
            if (parts > 1)
                out.insert(out.begin(),
                           option(make(Form::loopColumn, 256, parts), 1,
                                  fmt::format("{} threads to a strip of columns", parts)));
        }
        return;
    }
    if (splittable && f.rows < 2 * f.processors) {
        const std::int64_t outer = f.nest.dims[f.nest.elementDims()[0]].size;
        for (const int each : {16, 64}) {
            const std::int64_t parts =
                std::min<std::int64_t>(outer, static_cast<std::int64_t>(each) * f.processors);
            if (parts > 1)
                out.push_back(option(make(Form::loopRow, 512, parts), 1,
                                     fmt::format("{} parts, combined by a second kernel", parts)));
        }
    }
    // Rows too short for vectors of their own go side by side.
    constexpr std::int64_t shortRow = 64, enoughRows = 16;
    if (f.elements < shortRow && neighbours >= enoughRows) {
        for (const int chunk : fittingChunks({256, 64, 1024}, neighbours))
            out.push_back(option(make(Form::loopColumn, chunk, 1), 1,
                                 fmt::format("a thread owns {} neighbouring short rows", chunk)));
    }
    for (const int chunk : fittingChunks({2048, 8192, 512}, f.elements))
        out.push_back(
            option(make(Form::loopRow, chunk, 1), 1,
                   fmt::format("a thread does a whole row, {} elements at a time", chunk)));
}

} // namespace

int widestVector(const Program &program, const ScheduledGroup &group) {
    int widest = group.nest.crossing ? 4 : 8;
    std::size_t smallest = 8;
    bool any = false;
    const auto consider = [&](int vector, DType type) {
        if (vector == 0)
            return;
        any = true;
        smallest = std::min(smallest, sizeOf(type));
        widest = std::min(widest, vector);
    };
    for (const auto &[id, access] : group.nest.accesses) {
        // What has a border can be read one by one where others are wider, and so can all where
        // vectors cross the ends of loops.
        const Value &value = program.values[id];
        if (!group.nest.crossing &&
            (!value.bordered() ||
             (!group.group->hasReductions() && asksOnceForARun(program, group.nest, id))))
            consider(widestRun(program, group.nest, id), value.dtype);
    }
    for (std::size_t i = 0; i < group.nest.stores.size(); ++i)
        if (!group.group->stores[i].adds())
            consider(widestRun(group.nest, group.nest.stores[i]),
                     program.buffers[group.group->stores[i].buffer].dtype);
    if (!any)
        return 1;
    return std::min<int>(widest, static_cast<int>(16 / std::max<std::size_t>(smallest, 2)));
}

std::vector<Option> scheduleOptions(const Program &program, const ScheduledGroup &group,
                                    const device::Info &device) {
    if (group.group->product >= 0)
        return productOptions(program, group, device);
    if (!group.group->orders.empty())
        return orderOptions(program, group, device);
    const std::vector<Pass> passes = makePasses(program, *group.group);
    Facts f{group,
            group.nest,
            group.nest.rows(),
            group.nest.elements(),
            widestVector(program, group),
            passes.size(),
            false,
            false,
            std::max(1, device.multiprocessors),
            static_cast<std::int64_t>(device.cacheBytes)};
    const std::int64_t all = f.rows * f.elements;
    for (std::size_t i = 0; i < group.nest.stores.size(); ++i)
        f.elementResults = f.elementResults || group.nest.variesByElement(group.nest.stores[i]);
    const std::vector<int> rowDims = group.nest.rowDims();
    int arrays = 0;
    for (const auto &[id, access] : group.nest.accesses) {
        const Value &value = program.values[id];
        if (value.kind != Kind::load)
            continue;
        const auto size = static_cast<std::int64_t>(sizeOf(value.dtype));
        const std::vector<int> picks(value.args.begin(), value.args.begin() + value.picks());
        f.gathers = f.gathers || std::ranges::any_of(reachableFrom(program, picks), [&](int pick) {
                        return program.values[pick].kind == Kind::load;
                    });
        if (group.nest.variesByElement(access)) {
            if (program.bytesOf(value.buffer) * 4 >= all * size)
                ++arrays;
            f.wideReads = f.wideReads || (f.vector > 1 && access.strides.back() == 1);
            f.elementBytes += size;
            if (!rowDims.empty())
                f.bytesToNextRow =
                    std::max(f.bytesToNextRow, access.strides[rowDims.back()] * size);
            if (rowDims.size() > 1 && overlaps(group.nest, access, rowDims[rowDims.size() - 2]))
                f.overlapping = group.nest.dims[rowDims[rowDims.size() - 2]].size;
        }
    }
    f.arrays = std::max(1, arrays);
    if (device.kind == device::Kind::cuda && !group.group->hasReductions())
        f.shared = sharedLoopOf(program, *group.group, group.nest);
    if (group.nest.tiled())
        for (const int load : loadsAcross(program, group.nest))
            f.stagedBytes += std::max(4, static_cast<int>(sizeOf(program.values[load].dtype)));
    for (const Pass &pass : passes) {
        for (const Reducer &reducer : pass.reducers)
            f.boolState = f.boolState || program.values[reducer.value].dtype == DType::boolean;
    }
    std::vector<Option> result;
    if (!group.group->scans.empty()) {
        if (inScanOrder(program, group))
            scanOptions(f, device.kind == device::Kind::cpu, result);
    } else if (device.kind == device::Kind::cpu)
        loopOptions(f, result);
    else if (!group.group->hasReductions())
        mapOptions(f, result);
    else if (group.nest.column())
        columnOptions(f, result);
    else
        rowOptions(f, result);
    return result;
}

} // namespace cuda_agent::policy
