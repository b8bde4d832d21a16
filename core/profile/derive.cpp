// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/profile/derive.h"

#include "core/profile/datasheet.h"
#include "core/profile/metrics.h"

#include <algorithm>
#include <cmath>

namespace cuda_agent::profile {

namespace {

constexpr double sectorBytes = 32;

/// One launch's counters by name.
class Counters {
  public:
    explicit Counters(const std::map<std::string, double> &values) : values_(values) {}

    Figure operator()(const std::string &name) const {
        const auto found = values_.find(name);
        return found != values_.end() ? Figure(found->second) : std::nullopt;
    }
    Figure percent(const std::string &name) const {
        const auto value = (*this)(name);
        return value ? Figure(*value / 100) : std::nullopt;
    }
    /// `<before><middle><after>` for the wanted member of a family.
    Figure global(const char *what, const char *operation) const {
        return (*this)(fmt::format("l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum", what, operation));
    }
    Figure instructions(const char *operation) const {
        return (*this)(fmt::format("smsp__sass_thread_inst_executed_op_{}_pred_on.sum", operation));
    }
    Figure tensor(const char *source) const {
        return (*this)(fmt::format("sm__ops_path_tensor_src_{}.sum", source));
    }

  private:
    const std::map<std::string, double> &values_;
};

/// The sum of those that are there; none when none is.
Figure sumOfKnown(std::initializer_list<Figure> figures) {
    Figure sum;
    for (const auto &figure : figures)
        if (figure)
            sum = sum.value_or(0) + *figure;
    return sum;
}
/// The sum when all are there.
Figure sumOfAll(std::initializer_list<Figure> figures) {
    double sum = 0;
    for (const auto &figure : figures) {
        if (!figure)
            return std::nullopt;
        sum += *figure;
    }
    return sum;
}
Figure times(double factor, Figure figure) {
    return figure ? Figure(factor * *figure) : std::nullopt;
}
Figure either(Figure first, Figure second) {
    return first ? first : second;
}
Figure ratio(Figure above, Figure below) {
    return above && below && *below > 0 ? Figure(*above / *below) : std::nullopt;
}

Traffic trafficOf(const Counters &count) {
    Traffic traffic;
    traffic.dramRead = either(count("dram__bytes_read.sum"), count("dram__bytes_op_read.sum"));
    traffic.dramWrite = either(count("dram__bytes_write.sum"), count("dram__bytes_op_write.sum"));
    traffic.l2 = count("lts__t_bytes.sum");
    traffic.l1 = count("l1tex__t_bytes.sum");
    traffic.shared = count("smsp__sass_data_bytes_mem_shared.sum");
    traffic.local = sumOfAll({count("l1tex__t_bytes_pipe_lsu_mem_local_op_ld.sum"),
                              count("l1tex__t_bytes_pipe_lsu_mem_local_op_st.sum")});
    return traffic;
}

Operations operationsOf(const Counters &count) {
    Operations operations;
    operations.fp32 = sumOfAll({count.instructions("fadd"), count.instructions("fmul"),
                                times(2, count.instructions("ffma"))});
    operations.fp16 =
        sumOfAll({times(2, count.instructions("hadd")), times(2, count.instructions("hmul")),
                  times(4, count.instructions("hfma"))});
    operations.fp64 = sumOfAll({count.instructions("dadd"), count.instructions("dmul"),
                                times(2, count.instructions("dfma"))});
    // One metric, or one for each kind of sum.
    operations.tensorFp16 =
        either(count.tensor("fp16"),
               sumOfKnown({count.tensor("fp16_dst_fp16"), count.tensor("fp16_dst_fp32")}));
    operations.tensorBf16 = count.tensor("bf16_dst_fp32");
    operations.tensorTf32 = count.tensor("tf32_dst_fp32");
    operations.tensorOther =
        sumOfKnown({count.tensor("fp8"), count.tensor("int8"), count.tensor("fp64")});
    return operations;
}

std::vector<Stall> stallsOf(const Counters &count) {
    std::vector<Stall> stalls;
    double sum = 0;
    for (const auto &reason : stallReasons()) {
        const auto warps = count(stallMetric(reason.name));
        if (!warps || *warps <= 0)
            continue;
        stalls.push_back({std::string(reason.name), std::string(reason.meaning), *warps, 0});
        sum += *warps;
    }
    for (auto &stall : stalls)
        stall.share = stall.warps / sum;
    std::ranges::stable_sort(stalls, std::greater<>(), &Stall::warps);
    return stalls;
}

Access accessOf(const Counters &count, const char *operation) {
    return {count.global("requests", operation), count.global("sectors", operation),
            count(fmt::format("smsp__sass_data_bytes_mem_global_op_{}.sum", operation))};
}

SharedAccess sharedAccessOf(const Counters &count, const std::string &operation) {
    return {count("smsp__inst_executed_op_shared_" + operation + ".sum"),
            count("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_" + operation + ".sum"),
            count("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_" + operation + ".sum")};
}

/// Of the level whose name begins so ("L2", "L1").
double levelRate(const device::Ceilings &ceilings, std::string_view name) {
    for (const auto &level : ceilings.levels)
        if (level.name.starts_with(name))
            return level.bytesPerSecond;
    return 0;
}

Figure positive(double value) {
    return value > 0 ? Figure(value) : std::nullopt;
}

/// Sums over launches; a figure that one of them lacks is lacking.
template <typename T>
T total(const std::vector<Launch> &launches, T Launch::*part,
        std::initializer_list<Figure T::*> figures) {
    T sum;
    for (const auto figure : figures) {
        Figure &into = sum.*figure;
        for (const auto &launch : launches) {
            // Fills and copies have no counters; their own bytes are no kernel's.
            if (launch.kind != LaunchKind::kernel)
                continue;
            const Figure &value = launch.*part.*figure;
            if (!value) {
                into.reset();
                break;
            }
            into = into.value_or(0) + *value;
        }
    }
    return sum;
}

} // namespace

Figure Traffic::dram() const {
    return sumOfAll({dramRead, dramWrite});
}

Figure Operations::tensor() const {
    return sumOfKnown({tensorFp16, tensorBf16, tensorTf32, tensorOther});
}

Figure Operations::all() const {
    return sumOfKnown({fp32, fp16, fp64, tensor()});
}

Figure Access::sectorsPerRequest() const {
    return ratio(sectors, requests);
}

Figure Access::bytesPerSector() const {
    // Lanes that want the same bytes want more than there are.
    const auto bytes = ratio(wanted, sectors);
    return bytes ? Figure(std::min(*bytes, sectorBytes)) : std::nullopt;
}

Figure Access::leastSectorsPerRequest() const {
    const auto used = sectorsPerRequest(), bytes = bytesPerSector();
    return used && bytes ? Figure(*used * *bytes / sectorBytes) : std::nullopt;
}

Figure SharedAccess::conflictShare() const {
    return ratio(conflicts, wavefronts);
}

std::string_view nameOf(LaunchKind kind) {
    switch (kind) {
    case LaunchKind::kernel:
        return "kernel";
    case LaunchKind::memset:
        return "memset";
    case LaunchKind::memcpy:
        return "memcpy";
    case LaunchKind::step:
        return "step";
    }
    return "kernel";
}

std::optional<Waves> wavesOf(double blocks, int multiprocessors, int residentBlocks) {
    const double places = static_cast<double>(multiprocessors) * residentBlocks;
    if (!(blocks > 0) || !(places > 0))
        return std::nullopt;
    const double waves = blocks / places;
    return Waves{waves, 1 - waves / std::ceil(waves)};
}

std::vector<Roof> roofsOf(const Traffic &traffic, const Operations &operations, double seconds,
                          const device::Info &device, const device::Ceilings &ceilings) {
    std::vector<Roof> roofs;
    if (!(seconds > 0))
        return roofs;
    const auto sheet = device.kind == device::Kind::cuda ? datasheetOf(device.name) : std::nullopt;
    const Figure work = operations.all();
    const auto add = [&](const char *name, const char *unit, Figure amount, double measured,
                         double stated) {
        if (!amount)
            return;
        Roof roof{name, unit, *amount, *amount / seconds, positive(measured), positive(stated),
                  {},   {},   {}};
        if (roof.measured)
            roof.ofMeasured = roof.rate / *roof.measured;
        if (roof.datasheet)
            roof.ofDatasheet = roof.rate / *roof.datasheet;
        if (roof.unit == "B" && work && *amount > 0)
            roof.intensity = *work / *amount;
        roofs.push_back(std::move(roof));
    };
    const Datasheet none;
    const Datasheet &stated = sheet ? *sheet : none;
    add("DRAM", "B", traffic.dram(), ceilings.copyBytesPerSecond, stated.bytesPerSecond);
    add("L2", "B", traffic.l2, levelRate(ceilings, "L2"), 0);
    // One memory serves both, so their bytes share one ceiling.
    add("L1/shared", "B", sumOfKnown({traffic.l1, traffic.shared}), levelRate(ceilings, "L1"), 0);
    add("FP32", "op", operations.fp32, ceilings.fp32FlopsPerSecond, stated.fp32);
    add("TF32 tensor", "op", operations.tensorTf32, ceilings.tf32FlopsPerSecond, stated.tf32Tensor);
    add("FP16/BF16 tensor", "op", sumOfKnown({operations.tensorFp16, operations.tensorBf16}),
        ceilings.halfFlopsPerSecond, stated.halfTensor);
    return roofs;
}

namespace {

/// What the plan counts, against the host's ceilings.
std::vector<Roof> countedRoofs(std::uint64_t bytes, double operations, double seconds,
                               const device::Ceilings &ceilings) {
    std::vector<Roof> roofs;
    if (!(seconds > 0))
        return roofs;
    const auto add = [&](const char *name, const char *unit, double amount, double ceiling) {
        if (!(amount > 0))
            return;
        Roof roof{name, unit, amount, amount / seconds, positive(ceiling), {}, {}, {}, {}};
        if (roof.measured)
            roof.ofMeasured = roof.rate / *roof.measured;
        if (roof.unit == "B" && operations > 0)
            roof.intensity = operations / amount;
        roofs.push_back(std::move(roof));
    };
    add("counted bytes", "B", static_cast<double>(bytes), ceilings.copyBytesPerSecond);
    add("counted operations", "op", operations, ceilings.fp32FlopsPerSecond);
    return roofs;
}

} // namespace

void deriveLaunch(Launch &launch, const Report &report) {
    if (report.device.kind == device::Kind::cpu) {
        launch.roofs = countedRoofs(launch.countedBytes, launch.countedOperations, launch.seconds,
                                    report.ceilings);
        return;
    }
    const Counters count(launch.counters);
    launch.traffic = trafficOf(count);
    launch.operations = operationsOf(count);
    launch.globalLoads = accessOf(count, "ld");
    launch.globalStores = accessOf(count, "st");
    launch.atomics =
        sumOfKnown({count.global("requests", "atom"), count.global("requests", "red")});
    launch.sharedLoads = sharedAccessOf(count, "ld");
    launch.sharedStores = sharedAccessOf(count, "st");
    // Hits and lookups may come from two passes.
    const auto hitRate = [&](const char *name) {
        const auto rate = count.percent(name);
        return rate ? Figure(std::min(*rate, 1.0)) : std::nullopt;
    };
    launch.l1HitRate = hitRate("l1tex__t_sector_hit_rate.pct");
    launch.l2HitRate = hitRate("lts__t_sector_hit_rate.pct");
    launch.stalls = stallsOf(count);
    launch.issueActive = count.percent("smsp__issue_active.avg.pct_of_peak_sustained_active");
    launch.activeLanes =
        ratio(count("smsp__thread_inst_executed_pred_on.sum"), count("smsp__inst_executed.sum"));
    launch.achievedOccupancy = count.percent("sm__warps_active.avg.pct_of_peak_sustained_active");
    if (const auto busy = ratio(count("sm__cycles_active.avg"), count("sm__cycles_elapsed.max")))
        launch.idleMultiprocessors = std::max(0.0, 1 - *busy);
    if (launch.theoretical) {
        const double blocks = static_cast<double>(launch.grid[0]) * launch.grid[1] * launch.grid[2];
        if (const auto waves =
                wavesOf(blocks, report.device.multiprocessors, launch.theoretical->blocks)) {
            launch.waves = waves->waves;
            launch.tail = waves->tail;
        }
    }
    launch.roofs =
        roofsOf(launch.traffic, launch.operations, launch.seconds, report.device, report.ceilings);
}

void deriveTotals(Report &report) {
    report.busySeconds = 0;
    for (const auto &launch : report.launches)
        report.busySeconds += launch.seconds;
    for (auto &launch : report.launches)
        launch.share = report.busySeconds > 0 ? launch.seconds / report.busySeconds : 0;
    // On the cpu the call waits for each step anyway.
    if (report.device.kind == device::Kind::cuda && report.spanSeconds > 0)
        report.gapShare =
            std::max(0.0, report.spanSeconds - report.busySeconds) / report.spanSeconds;
    const double seconds = report.spanSeconds > 0 ? report.spanSeconds : report.busySeconds;
    if (report.device.kind == device::Kind::cpu) {
        report.roofs =
            countedRoofs(report.countedBytes, report.countedOperations, seconds, report.ceilings);
        return;
    }
    report.traffic = total(report.launches, &Launch::traffic,
                           {&Traffic::dramRead, &Traffic::dramWrite, &Traffic::l2, &Traffic::l1,
                            &Traffic::shared, &Traffic::local});
    report.operations =
        total(report.launches, &Launch::operations,
              {&Operations::fp32, &Operations::fp16, &Operations::fp64, &Operations::tensorFp16,
               &Operations::tensorBf16, &Operations::tensorTf32, &Operations::tensorOther});
    report.roofs =
        roofsOf(report.traffic, report.operations, seconds, report.device, report.ceilings);
}

} // namespace cuda_agent::profile
