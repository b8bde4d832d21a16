// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/recurrence.h"

#include <algorithm>
#include <array>

namespace cuda_agent::policy {

namespace {

/// Rows of the weights that a warp multiplies, and rows of the batch that it takes at once, so that
/// their sums are at most one for each lane. As in recurInBlocks.
std::int64_t rowsOfWarp(const Recurrence &r, const RecurrenceSchedule &s) {
    return ceilDivide(r.gatesOfUnit() * s.units, s.threads / 32);
}
std::int64_t batchAtOnce(std::int64_t rows) {
    std::int64_t together = 32;
    while (together > 1 && rows * together > 32)
        together /= 2;
    return together;
}

/// Blocks of a direction, and how they hear of each other, in the order in which they are tried.
struct Choice {
    std::int64_t blocks = 64;
    bool tagged = false;
};
constexpr std::array<Choice, recurrenceChoices> choices{
    {{64, true}, {64, false}, {32, true}, {128, true}}};

const char *cellType(const std::string &cell) {
    return cell == "lstm"       ? "LstmCell"
           : cell == "gru"      ? "GruCell"
           : cell == "rnn_tanh" ? "TanhCell"
                                : "ReluCell";
}

Result<RecurrenceSchedule> scheduleOf(const Recurrence &r, const device::Info &device, int choice) {
    RecurrenceSchedule s;
    if (device.kind == device::Kind::cpu)
        return s;
    constexpr std::int64_t lanes = 32, inRegisters = 64;
    const std::int64_t enough = choices[choice].blocks;
    s.tagged = choices[choice].tagged;
    const std::int64_t processors =
        std::max<std::int64_t>(1, device.multiprocessors / r.directions());
    const auto mostShared =
        std::max<std::int64_t>(static_cast<std::int64_t>(device.sharedBytesPerBlock), 48 << 10);
    const auto offer = [&](int threads, std::int64_t blocks) {
        s.threads = threads;
        s.units = ceilDivide(r.hidden, std::max<std::int64_t>(1, blocks));
        s.blocks = ceilDivide(r.hidden, s.units);
        const std::int64_t rows = rowsOfWarp(r, s);
        s.kept = rows * ceilDivide(r.hidden, 4 * lanes) * 4 <= inRegisters;
        const std::int64_t padded = ceilDivide(r.batch, batchAtOnce(rows)) * batchAtOnce(rows);
        s.shared = static_cast<int>(
            4 * (padded * (r.hidden + r.gatesOfUnit() * s.units) + r.batch * s.units));
        return rows <= lanes && s.shared <= mostShared;
    };
    // Few blocks have less to wait for; many have more registers.
    for (const auto &[threads, blocks] : {std::pair{256, std::min(enough, processors)},
                                          {512, std::min(enough, processors)},
                                          {256, processors},
                                          {512, processors}}) {
        if (offer(threads, blocks) && s.kept)
            return s;
    }
    if (offer(512, processors))
        return s;
    return failedError("the states of {} rows of {} do not fit a multiprocessor", r.batch,
                       r.hidden);
}

} // namespace

Result<void> scheduleRecurrences(Program &program, const device::Info &device, int choice) {
    for (LibraryStep &step : program.library) {
        if (!step.recurrence)
            continue;
        CUDA_AGENT_ASSIGN(schedule, scheduleOf(*step.recurrence, device, choice));
        step.recurrence->schedule = schedule;
    }
    return {};
}

double secondsOf(const Recurrence &r) {
    const RecurrenceSchedule &s = r.schedule;
    // Measured on an H200, layers of 256 units: a step of 64 blocks takes 2.2 us (GRU) and 2.3 us
    // (LSTM) where states carry the number of their step, and 3.4 where blocks count; of 128
    // blocks 3.1 and 3.2; of 64 for each of two directions 2.7 and 3.8. Fewer than 64 were not
    // measured.
    constexpr double counting = 3.0e-6, telling = 0.84e-6, eachBlock = 16.7e-9, otherWay = 0.45e-6;
    constexpr double rate = 2e11, alone = 5e9;
    const double meeting =
        (s.tagged ? telling + eachBlock * static_cast<double>(std::max<std::int64_t>(64, s.blocks))
                  : counting) +
        otherWay * static_cast<double>(r.directions() - 1);
    const double operations =
        2.0 * static_cast<double>(r.gatesOfUnit() * s.units * r.hidden * r.batch);
    const auto steps = static_cast<double>(r.steps);
    if (s.alone())
        return steps * operations * static_cast<double>(r.hidden * r.directions()) / alone;
    return steps * (meeting + operations / rate);
}

std::string describe(const Recurrence &r) {
    const RecurrenceSchedule &s = r.schedule;
    const std::string what = fmt::format("{}, {} steps of {} rows, {} units, {} direction(s); ",
                                         r.cell, r.steps, r.batch, r.hidden, r.directions());
    if (s.alone())
        return what + "a thread takes a row of the batch through all steps";
    return what + fmt::format("{} blocks of {} threads for each direction stay for all steps, {} "
                              "the weights of {} units and {}",
                              s.blocks, s.threads, s.kept ? "keep" : "read", s.units,
                              s.tagged ? "hand states on with the number of their step"
                                       : "count those that are done with a step");
}

KernelSource writeRecurrence(const Program &program, const LibraryStep &step,
                             const std::string &name) {
    const Recurrence &r = *step.recurrence;
    const RecurrenceSchedule &s = r.schedule;
    KernelSource source;
    Launch launch;
    launch.entry = name;
    std::vector<std::string> parameters;
    const auto parameter = [&](const char *type, const std::string &buffer) {
        const std::string text = fmt::format("{}{}", type, buffer);
        if (std::ranges::find(parameters, text) == parameters.end()) {
            parameters.push_back(text);
            launch.arguments.push_back({{"buffer", buffer}});
        }
        return buffer;
    };
    const auto read = [&](int buffer) {
        return buffer < 0 ? std::string("nullptr")
                          : parameter("const float *", program.buffers[buffer].name);
    };
    std::string body;
    const auto line = [&](const std::string &text) { body += "    " + text + "\n"; };
    const std::string out = program.buffers[step.writes].name;
    const std::int64_t rows = r.batch * r.hidden, elements = r.steps * r.directions() * rows;
    line(s.alone() ? "const int direction = (int)blockIdx.y;"
                   : fmt::format("const int direction = (int)blockIdx.x / {};", s.blocks));
    const auto either = [&](const char *what, const std::vector<int> &buffers) {
        const std::string one = read(buffers.empty() ? -1 : buffers[0]);
        const std::string text =
            buffers.size() > 1 ? fmt::format("direction ? {} : {}", read(buffers[1]), one) : one;
        line(fmt::format("const float *const {} = {};", what, text));
    };
    either("gates", r.gates);
    either("weight", r.weights);
    either("inputBias", r.inputBiases);
    either("hiddenBias", r.hiddenBiases);
    const auto start = [&](const char *what, int buffer) {
        const std::string text = read(buffer);
        line(fmt::format("const float *const {} = {}{};", what, text,
                         buffer < 0 ? "" : fmt::format(" + direction * {}", rows)));
    };
    start("first", r.first);
    start("firstCell", r.firstCell);
    parameter("float *", out);
    line(fmt::format("float *const lastCell = {};",
                     r.cell == "lstm" ? fmt::format("{} + {} + direction * {}", out, elements, rows)
                                      : "nullptr"));
    if (s.alone()) {
        source.helpers.insert("recurAlone");
        line(fmt::format("recurAlone<{}, {}, {}, {}, {}>(gates, weight, inputBias, hiddenBias, "
                         "first, firstCell, {}, lastCell, direction, (int)blockIdx.x);",
                         cellType(r.cell), r.steps, r.batch, r.hidden, r.directions(), out));
        launch.grid[0] = std::to_string(r.batch);
        launch.grid[1] = std::to_string(r.directions());
    } else {
        source.helpers.insert("recurInBlocks");
        BufferInfo told;
        told.name = name + "_told";
        told.dtype = s.tagged ? DType::int64 : DType::int32;
        const std::int64_t each = s.tagged ? 2 * rows : r.steps;
        told.expressions = {std::to_string(r.directions() * each)};
        parameter(s.tagged ? "unsigned long long *" : "int *", told.name);
        source.zeroed.push_back(told.name);
        line(fmt::format("recurInBlocks<{}, {}, {}, {}, {}, {}, {}, {}, {}, {}>(\n        gates, "
                         "weight, inputBias, hiddenBias, first, firstCell, {}, lastCell, {} + "
                         "direction * {}, direction);",
                         cellType(r.cell), r.steps, r.batch, r.hidden, r.directions(), s.units,
                         s.blocks, s.threads, s.kept, s.tagged, out, told.name, each));
        source.scratch.push_back(std::move(told));
        launch.grid[0] = std::to_string(s.blocks * r.directions());
        launch.block[0] = s.threads;
        launch.shared = s.shared;
    }
    source.text =
        fmt::format("extern \"C\" __global__ void __launch_bounds__({}) {}({}) {{\n{}}}\n\n",
                    s.threads, name, fmt::join(parameters, ", "), body);
    source.launches.push_back(std::move(launch));
    return source;
}

} // namespace cuda_agent::policy
