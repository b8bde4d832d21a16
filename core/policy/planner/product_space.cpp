// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/attention.h"
#include "core/policy/planner/products.h"
#include "core/policy/planner/schedule_space.h"

#include <algorithm>
#include <array>

// Which tiles a product is offered. A tile's rate is a guess from its use of registers and shared
// memory, which orders the first choices; what is measured decides.

namespace cuda_agent::policy {

namespace {

using Form = Schedule::Form;

/// A tile with the share of the device's rate that it reaches when there are enough of them.
/// `bytes` of k are in a slice, where tensor cores multiply.
struct Tile {
    int rows, columns, rowsEach, columnsEach, stages, resident, bytes;
    double share;
};

// Operations a second that the best tiles reach on an H200: instructions of one warp are well below
// what those of warp groups do, and a split float takes three of them.
constexpr double tf32Rate = 1.6e14, halfRate = 3.5e14, splitRate = 5.4e13, floatRate = 4.5e13;
constexpr double processorsOfRates = 132;
/// The least time that a slice of k takes, however small the tile: memory has to answer.
constexpr double tensorSlice = 5e-7, floatSlice = 5e-7;
constexpr double secondLaunch = 2.5e-6, bytesPerSecond = 4e12;

// In the order of what was fastest on large products; small ones leave tiles idle, which counts.
constexpr std::array tensorTiles{
    Tile{128, 128, 64, 64, 5, 2, 64, 1},     Tile{128, 128, 64, 64, 3, 2, 128, 0.98},
    Tile{128, 256, 64, 64, 3, 1, 128, 0.95}, Tile{128, 128, 64, 32, 3, 2, 128, 0.85},
    Tile{128, 64, 64, 32, 4, 2, 128, 0.8},   Tile{64, 128, 32, 64, 4, 2, 128, 0.8},
    Tile{64, 64, 32, 32, 4, 4, 128, 0.65},   Tile{128, 32, 32, 32, 4, 1, 128, 0.5},
    Tile{64, 32, 32, 16, 4, 1, 128, 0.4},    Tile{32, 64, 16, 32, 4, 1, 128, 0.4},
    Tile{32, 32, 16, 16, 4, 1, 128, 0.3},    Tile{16, 64, 16, 16, 4, 1, 128, 0.25},
    Tile{32, 128, 32, 32, 4, 2, 128, 0.55},  Tile{16, 128, 16, 32, 4, 2, 128, 0.4}};
constexpr std::array splitTiles{
    Tile{128, 64, 64, 32, 3, 2, 128, 1},     Tile{128, 128, 64, 32, 3, 1, 128, 0.98},
    Tile{128, 128, 32, 64, 3, 1, 128, 0.97}, Tile{64, 64, 32, 32, 3, 4, 128, 0.94},
    Tile{128, 128, 64, 32, 4, 1, 64, 0.92},  Tile{64, 128, 32, 32, 3, 2, 128, 0.85},
    Tile{64, 32, 32, 16, 4, 1, 128, 0.6},    Tile{32, 64, 16, 32, 4, 1, 128, 0.6},
    Tile{32, 32, 16, 16, 4, 1, 128, 0.5},    Tile{16, 64, 16, 16, 4, 1, 128, 0.35}};
constexpr std::array floatTiles{
    Tile{128, 128, 8, 8, 2, 1, 64, 0.9}, Tile{128, 64, 8, 8, 2, 1, 64, 0.8},
    Tile{64, 128, 8, 8, 2, 1, 64, 0.8},  Tile{64, 64, 8, 4, 2, 1, 64, 0.65},
    Tile{64, 64, 4, 4, 2, 1, 64, 0.6},   Tile{64, 32, 4, 4, 2, 1, 128, 0.5},
    Tile{32, 32, 4, 4, 2, 1, 128, 0.4},  Tile{16, 64, 4, 4, 2, 1, 128, 0.35},
    Tile{16, 32, 4, 4, 2, 1, 128, 0.25}};

class ProductOptions {
  public:
    ProductOptions(const Program &program, const ScheduledGroup &group, const device::Info &device)
        : product_(*program.library[group.group->product].product), nest_(group.nest),
          device_(device) {}

    /// Of attention: a warp takes 16 queries whatever the tile.
    std::vector<Option> runAttention(const Product &scores, bool causal) {
        const double operations = (causal ? 1 : 2) * static_cast<double>(product_.batch) *
                                  static_cast<double>(product_.m * product_.k) *
                                  static_cast<double>(scores.k + product_.n);
        const auto add = [&](Schedule s, double rate, const char *how) {
            if (s.form != Form::loopProduct &&
                attentionBytes(s, scores, product_) > sharedBytesOfBlock())
                return;
            options_.push_back({s, 1,
                                fmt::format("scores, softmax and weighted sum in one kernel{}; {} "
                                            "queries a block, {} keys at a time",
                                            how, s.along, s.chunk),
                                operations / rate});
        };
        Schedule s;
        s.rowsEach = 16;
        s.columnsEach = s.across = static_cast<int>(paddedHead(product_.n));
        if (device_.kind == device::Kind::cpu) {
            const auto &columns = nest_.sides[2];
            s.form = Form::loopProduct;
            s.threads = s.team = 1;
            s.vector = columns.size() == 1 ? s.across : 1;
            for (const auto &[rows, keys] : {std::pair{16, 64}, {32, 128}, {8, 32}}) {
                s.along = rows;
                s.chunk = keys;
                add(s, 3e10, "");
            }
            return std::move(options_);
        }
        const bool single = product_.type == DType::float32;
        const bool rounds = product_.tf32 || !single;
        const bool tensor = tensorCores();
        s.vector = widest(2);
        constexpr double share = 0.6; // of the rate: exponentials and rescaling take the rest
        for (const auto &[queries, keys] :
             {std::pair{64, 64}, {128, 64}, {64, 32}, {128, 32}, {32, 32}}) {
            s.along = queries;
            s.chunk = keys;
            s.threads = s.team = queries * 2;
            s.form = Form::tensor;
            s.split = !rounds;
            if (tensor)
                add(s,
                    share * (!single  ? halfRate
                             : rounds ? tf32Rate
                                      : splitRate),
                    s.split ? " on tensor cores, floats as two TF32 numbers" : " on tensor cores");
            s.form = Form::product;
            s.split = false;
            if ((!rounds || !tensor) && queries == 64)
                add(s, share * floatRate, " in float arithmetic");
        }
        std::stable_sort(options_.begin(), options_.end(),
                         [](const Option &a, const Option &b) { return a.seconds < b.seconds; });
        return std::move(options_);
    }

    std::vector<Option> run() {
        if (device_.kind == device::Kind::cpu) {
            loops();
            return std::move(options_);
        }
        const bool single = product_.type == DType::float32;
        const bool tensor = tensorCores();
        if (tensor && (!single || product_.tf32)) {
            for (const Tile &tile : tensorTiles)
                offer(tensorSchedule(tile, false), tile.share * (single ? tf32Rate : halfRate));
        }
        // Where rounding is allowed, what does not round is another variant's, should that fail.
        if (tensor && single && !product_.tf32) {
            for (const Tile &tile : splitTiles)
                offer(tensorSchedule(tile, true), tile.share * splitRate);
        }
        if (!product_.tf32 || options_.empty()) {
            for (const Tile &tile : floatTiles)
                offer(floatSchedule(tile), tile.share * floatRate);
        }
        std::stable_sort(options_.begin(), options_.end(),
                         [](const Option &a, const Option &b) { return a.seconds < b.seconds; });
        keepSome();
        return std::move(options_);
    }

  private:
    bool tensorCores() const {
        constexpr int oldest = 80;
        const std::string &name = device_.architecture;
        return !name.starts_with("sm_") || std::atoi(name.c_str() + 3) >= oldest;
    }

    int sharedBytesOfBlock() const {
        constexpr int hopper = 227 << 10;
        const bool known =
            device_.architecture.starts_with("sm_") && device_.sharedBytesPerBlock > 0;
        return known ? static_cast<int>(device_.sharedBytesPerBlock) : hopper;
    }

    /// Neighbours of a row that lie next to each other whatever is computed from them.
    int widest(int most) const {
        const auto &columns = nest_.sides[2];
        if (columns.empty())
            return 1;
        while (most > 1 && nest_.dims[columns.back()].size % most != 0)
            most /= 2;
        return most;
    }

    Schedule tensorSchedule(const Tile &tile, bool split) const {
        Schedule s;
        s.form = Form::tensor;
        s.along = tile.rows;
        s.across = tile.columns;
        s.rowsEach = tile.rowsEach;
        s.columnsEach = tile.columnsEach;
        s.stages = tile.stages;
        s.resident = tile.resident;
        s.chunk = tile.bytes / static_cast<int>(sizeOf(product_.type));
        s.threads = s.team = tile.rows / tile.rowsEach * (tile.columns / tile.columnsEach) * 32;
        s.vector = widest(4);
        s.split = split;
        return s;
    }

    Schedule floatSchedule(const Tile &tile) const {
        Schedule s;
        s.form = Form::product;
        s.along = tile.rows;
        s.across = tile.columns;
        s.rowsEach = tile.rowsEach;
        s.columnsEach = tile.columnsEach;
        s.chunk = tile.bytes / static_cast<int>(sizeof(float));
        s.threads = s.team = tile.rows / tile.rowsEach * (tile.columns / tile.columnsEach);
        s.vector = widest(4);
        return s;
    }

    /// Whether the copies of an operand share out evenly, and the tile fits shared memory.
    bool possible(const Schedule &s) const {
        if (s.form != Form::tensor)
            return true;
        const auto even = [&](const ProductOperand &operand, int rows, std::int64_t all) {
            const int run = (operand.alongK ? s.chunk : rows) / widestRead(product_, operand, all);
            return run <= s.threads && s.threads % run == 0;
        };
        return sharedBytes(s, product_) <= sharedBytesOfBlock() &&
               even(product_.a, s.along, product_.m) && even(product_.b, s.across, product_.n);
    }

    void offer(Schedule s, double rate) {
        if (!possible(s))
            return;
        const std::int64_t tiles =
            ceilDivide(product_.m, s.along) * ceilDivide(product_.n, s.across) * product_.batch;
        const std::int64_t slices = ceilDivide(product_.k, s.chunk);
        constexpr std::int64_t fewestSlices = 4, mostParts = 64;
        const std::int64_t most = std::min(slices / fewestSlices, mostParts);
        const std::int64_t fill = std::max<std::int64_t>(1, device_.multiprocessors / tiles);
        std::set<std::int64_t> tried;
        for (const std::int64_t wanted : {std::int64_t{1}, fill, 2 * fill}) {
            const std::int64_t least = std::max<std::int64_t>(1, std::min(wanted, most));
            // As many parts as there are when each has as many slices.
            const std::int64_t parts = ceilDivide(slices, ceilDivide(slices, least));
            if (tried.insert(parts).second)
                add(s, parts, tiles, rate);
        }
    }

    /// Copies of windows take as long as this, each with a look at where it lies, one by one or
    /// some bytes at a time: measured in eleven convolutions each on an H100.
    double secondsOfWindows(const Schedule &s) const {
        constexpr double copiesPerSecond = 3.2e11, wideCopiesPerSecond = 1.9e11;
        const int width = widestRead(product_, product_.b, product_.n);
        const std::int64_t tiles = ceilDivide(product_.m, s.along) * product_.batch;
        const double copies =
            static_cast<double>(tiles * product_.n) * static_cast<double>(product_.k) / width;
        return copies / (width > 1 ? wideCopiesPerSecond : copiesPerSecond);
    }

    void add(Schedule s, std::int64_t parts, std::int64_t tiles, double rate) {
        s.parts = parts;
        const double processors = std::max(1, device_.multiprocessors);
        const std::int64_t slices =
            ceilDivide(ceilDivide(product_.k, s.chunk), std::max<std::int64_t>(1, parts));
        const auto rounds =
            static_cast<double>(ceilDivide(tiles * parts, static_cast<std::int64_t>(processors)));
        const double work = 2.0 * s.along * s.across * s.chunk * static_cast<double>(slices);
        // Blocks of one processor wait for memory at the same time.
        const double waiting = static_cast<double>(slices) *
                               (s.form == Form::tensor ? tensorSlice : floatSlice) *
                               std::max(1.0, rounds / 4);
        double seconds = std::max(rounds * work * processorsOfRates / rate, waiting);
        if (product_.b.windows) { // beside the work, but not quite
            constexpr double ofTheLesser = 0.1;
            const double copies = secondsOfWindows(s);
            seconds = std::max(seconds, copies) + ofTheLesser * std::min(seconds, copies);
        }
        std::string reason = fmt::format("tiles of {} by {}", s.along, s.across);
        reason += s.split                  ? " on tensor cores, floats as two TF32 numbers"
                  : s.form == Form::tensor ? " on tensor cores"
                                           : " in float arithmetic";
        reason += ", computed on in registers";
        if (parts > 1) {
            const double sums = 4.0 * static_cast<double>(product_.batch * product_.m) *
                                static_cast<double>(product_.n * parts);
            seconds += 2 * sums / bytesPerSecond + secondLaunch;
            reason += fmt::format("; {} parts of k, added up by a second kernel", parts);
        }
        options_.push_back({s, 1, std::move(reason), seconds});
    }

    /// The best of each kind and a number of the best.
    void keepSome() {
        constexpr std::size_t most = 12, ofAKind = 2;
        std::vector<Option> kept;
        std::map<std::pair<int, bool>, std::size_t> kinds;
        for (std::size_t i = 0; i < options_.size(); ++i) {
            const Schedule &s = options_[i].schedule;
            std::size_t &count = kinds[{static_cast<int>(s.form), s.split}];
            if (i < most || count < ofAKind) {
                kept.push_back(options_[i]);
                ++count;
            }
        }
        options_ = std::move(kept);
    }

    void loops() {
        constexpr double rate = 1e11;
        const auto &columns = nest_.sides[2];
        for (const auto &[rows, width, depth] :
             {std::array{64, 32, 128}, {32, 64, 128}, {16, 32, 256}}) {
            Schedule s;
            s.form = Form::loopProduct;
            s.along = rows;
            s.across = width;
            s.chunk = depth;
            s.rowsEach = 4;
            s.columnsEach = width;
            s.threads = s.team = 1;
            const bool whole = columns.size() == 1 ||
                               (!columns.empty() && nest_.dims[columns.back()].size % width == 0);
            s.vector = whole ? width : 1;
            const double operations = 2.0 * static_cast<double>(product_.batch * product_.m) *
                                      static_cast<double>(product_.n * product_.k);
            options_.push_back(
                {s, 1,
                 fmt::format("a thread computes {} by {} elements in plain loops", rows, width),
                 operations / rate});
        }
    }

    const Product &product_;
    const Nest &nest_;
    const device::Info &device_;
    std::vector<Option> options_;
};

} // namespace

int widestRead(const Product &product, const ProductOperand &operand, std::int64_t rows) {
    int width = static_cast<int>(16 / sizeOf(product.type));
    const auto all =
        operand.windows
            ? std::array{operand.windows->inner, std::int64_t{0}, operand.batchStride}
            : std::array{operand.alongK ? product.k : rows, operand.pitch, operand.batchStride};
    for (const std::int64_t n : all) {
        while (width > 1 && n % width != 0)
            width /= 2;
    }
    return width;
}

std::vector<Option> productOptions(const Program &program, const ScheduledGroup &group,
                                   const device::Info &device) {
    ProductOptions options(program, group, device);
    if (group.group->scores < 0)
        return options.run();
    return options.runAttention(*program.library[group.group->scores].product,
                                isCausal(program, *group.group));
}

} // namespace cuda_agent::policy
