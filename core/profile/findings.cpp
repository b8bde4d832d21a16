// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/profile/findings.h"

#include <algorithm>
#include <cctype>
#include <cmath>

namespace cuda_agent::profile {

namespace {

// Thresholds, as shares unless said otherwise.
constexpr double boundFrom = 0.8;     ///< of a measured ceiling: that is what holds it up
constexpr double limitFrom = 0.9;     ///< nothing to gain
constexpr double wastedFrom = 0.25;   ///< of the bytes of sectors
constexpr double conflictsFrom = 0.2; ///< of the passes through shared memory
constexpr double lanesBelow = 24;     ///< of 32
constexpr double gapsFrom = 0.1;      ///< of a call
constexpr double tailFrom = 0.2;
constexpr double occupancyBelow = 0.5;
constexpr double issueFrom = 0.8;
constexpr double waitingBelow = 0.6;        ///< of cycles with an instruction issued
constexpr double stallFrom = 0.4;           ///< of the warps that wait
constexpr double atomicsFrom = 0.1;         ///< of all requests to global memory
constexpr double excessFrom = 1.3;          ///< DRAM's bytes over those of the plan
constexpr double launchesThatMatter = 0.02; ///< of a call; shorter ones are left in peace

constexpr double mostGain = 100; ///< a bound beyond that says no more than this one
constexpr double sectorBytes = 32;
constexpr double lanesOfWarp = 32;

/// Names of counters are spoken of as their roof: "FP16/BF16 tensor" -> "tensor-bound".
std::string ruleOf(const Roof &roof) {
    if (roof.name.ends_with("tensor"))
        return "tensor-bound";
    std::string name;
    for (const char c : roof.name.substr(0, roof.name.find('/')))
        name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return name + "-bound";
}

const Roof *nearest(const std::vector<Roof> &roofs, bool computeOnly) {
    const Roof *best = nullptr;
    for (const auto &roof : roofs)
        if (roof.ofMeasured && (!computeOnly || roof.unit == "op") &&
            (best == nullptr || *roof.ofMeasured > *best->ofMeasured))
            best = &roof;
    return best;
}

/// The rules for one launch.
class LaunchRules {
  public:
    LaunchRules(const Report &report, int index, std::vector<Finding> &findings)
        : report_(report), index_(index), launch_(report.launches[static_cast<std::size_t>(index)]),
          findings_(findings) {
        const double call = report.spanSeconds > 0 ? report.spanSeconds : report.busySeconds;
        share_ = call > 0 ? std::min(1.0, launch_.seconds / call) : 0;
        roof_ = nearest(launch_.roofs, false);
    }

    void run() {
        if (launch_.kind != LaunchKind::kernel || !(launch_.seconds > 0) ||
            share_ < launchesThatMatter)
            return;
        bound();
        if (launch_.file.empty()) {
            library(); // nobody mends its accesses
            return;
        }
        excess();
        uncoalesced(launch_.globalLoads, "uncoalesced-loads", "loads");
        uncoalesced(launch_.globalStores, "uncoalesced-stores", "stores");
        conflicts(launch_.sharedLoads, "bank-conflicts-loads", "loads");
        conflicts(launch_.sharedStores, "bank-conflicts-stores", "stores");
        spills();
        divergence();
        atomics();
        waves();
        if (reached() < boundFrom) {
            occupancy();
            issue();
            stall();
        }
    }

  private:
    double reached() const { return roof_ != nullptr ? *roof_->ofMeasured : 0; }

    /// By how much the launch could get faster while it moves and computes the same; at least 1.
    double headroom() const { return std::max(1.0, 1 / std::max(reached(), 1 / mostGain)); }

    /// `faster` times: what only moves less. Arithmetic stays, so its ceilings hold.
    double withinCompute(double faster) const {
        const Roof *compute = nearest(launch_.roofs, true);
        if (compute == nullptr || !(*compute->ofMeasured > 0))
            return faster;
        return std::max(1.0, std::min(faster, 1 / *compute->ofMeasured));
    }

    double gainOf(double faster) const { return 1 / (1 - share_ + share_ / faster); }

    void add(const char *rule, double faster, std::string message, Json evidence,
             bool stop = false) {
        Finding finding;
        finding.rule = rule;
        finding.launch = index_;
        finding.message = std::move(message);
        finding.evidence = std::move(evidence);
        finding.gain = gainOf(std::clamp(faster, 1.0, mostGain));
        finding.stop = stop;
        finding.file = launch_.file;
        finding.line = launch_.line;
        findings_.push_back(std::move(finding));
    }

    void bound() {
        if (roof_ == nullptr || reached() < boundFrom)
            return;
        const bool stop = reached() >= limitFrom;
        add(ruleOf(*roof_).c_str(), headroom(),
            fmt::format("{} is bound by {} at {:.0f} % of its measured ceiling{}", launch_.name,
                        roof_->name, 100 * reached(),
                        stop ? ": stop here, unless it can move or compute less" : ""),
            {{"roof", roof_->name},
             {"rate", roof_->rate},
             {"measured", *roof_->measured},
             {"of_measured", reached()}},
            stop);
    }

    void library() {
        if (roof_ == nullptr || reached() >= boundFrom)
            return;
        add("library-below-limit", headroom(),
            fmt::format("{} reaches {:.0f} % of its nearest ceiling ({}); another layout, or a "
                        "kernel of your own, has room",
                        launch_.label, 100 * reached(), roof_->name),
            {{"roof", roof_->name}, {"of_measured", reached()}});
    }

    void excess() {
        const auto moved = launch_.traffic.dram();
        const auto counted = static_cast<double>(launch_.countedBytes);
        // What fits into L2 may never go to DRAM, so little data says nothing.
        if (!moved || counted <= static_cast<double>(report_.device.cacheBytes) ||
            *moved < excessFrom * counted)
            return;
        const auto &roofs = launch_.roofs;
        const auto dram = std::ranges::find(roofs, "DRAM", &Roof::name);
        if (dram == roofs.end() || !dram->ofMeasured || *dram->ofMeasured < waitingBelow)
            return;
        add("excess-dram-traffic", withinCompute(*moved / counted),
            fmt::format("{} moves {:.2f} times the bytes of its buffers through DRAM: data comes "
                        "back to L2 after it was dropped; tile so that each piece is used while "
                        "it is there",
                        launch_.name, *moved / counted),
            {{"dram_bytes", *moved}, {"counted_bytes", counted}});
    }

    void uncoalesced(const Access &access, const char *rule, const char *what) {
        const auto used = access.sectorsPerRequest(), least = access.leastSectorsPerRequest();
        if (!used || !least || !(*used > 0) || 1 - *least / *used < wastedFrom)
            return;
        // Where they are a small part of what L1 is asked for, others matter more.
        if (launch_.traffic.l1 && *access.sectors * sectorBytes < atomicsFrom * *launch_.traffic.l1)
            return;
        add(rule, withinCompute(*used / *least),
            fmt::format("uncoalesced {} in {}: {:.1f} sectors per request where {:.1f} suffice; "
                        "neighbouring threads should use neighbouring addresses",
                        what, launch_.name, *used, *least),
            {{"sectors_per_request", *used},
             {"least_sectors_per_request", *least},
             {"bytes_per_sector", *access.bytesPerSector()}});
    }

    void conflicts(const SharedAccess &access, const char *rule, const char *what) {
        const auto share = access.conflictShare();
        if (!share || *share < conflictsFrom)
            return;
        // Passes that the memory has time for anyway hold nothing up.
        const auto cycles = launch_.counters.find("sm__cycles_elapsed.max");
        double busy = 1;
        if (cycles != launch_.counters.end() && cycles->second > 0 &&
            report_.device.multiprocessors > 0)
            busy = std::min(1.0,
                            *access.wavefronts / (cycles->second * report_.device.multiprocessors));
        if (busy < atomicsFrom)
            return;
        add(rule, std::min(1 / (1 - std::min(*share, 0.97)), 1 / (1 - std::min(busy, 0.97))),
            fmt::format("bank conflicts in {}: {:.0f} % of the passes of its shared-memory {} are "
                        "repeated ones; pad rows by one element or permute the columns",
                        launch_.name, 100 * *share, what),
            {{"bank_conflicts", *access.conflicts},
             {"wavefronts", *access.wavefronts},
             {"conflict_share", *share},
             {"busy", busy}});
    }

    void spills() {
        const auto &local = launch_.traffic.local;
        if (launch_.spillBytes <= 0 || (local && *local <= 0))
            return;
        double faster = headroom();
        Json evidence{{"spill_bytes", launch_.spillBytes}, {"registers", launch_.registers}};
        std::string much;
        if (local && launch_.traffic.l1 && *launch_.traffic.l1 > 0) {
            const double share = std::min(0.97, *local / *launch_.traffic.l1);
            evidence["local_bytes"] = *local;
            evidence["share_of_l1"] = share;
            much = fmt::format(", {:.0f} % of what L1 is asked for", 100 * share);
            faster = 1 / (1 - share);
        }
        add("spills", faster,
            fmt::format("{} spills {} bytes a thread at {} registers{}; keep fewer values alive, "
                        "or allow more registers with __launch_bounds__",
                        launch_.name, launch_.spillBytes, launch_.registers, much),
            std::move(evidence));
    }

    void divergence() {
        if (!launch_.activeLanes || !(*launch_.activeLanes > 0) ||
            *launch_.activeLanes >= lanesBelow)
            return;
        add("divergence", lanesOfWarp / *launch_.activeLanes,
            fmt::format("{} of 32 lanes of a warp work on average in {}; let whole warps take the "
                        "same way",
                        fmt::format("{:.1f}", *launch_.activeLanes), launch_.name),
            {{"active_lanes", *launch_.activeLanes}});
    }

    void atomics() {
        if (!launch_.atomics || !launch_.globalLoads.requests || !launch_.globalStores.requests)
            return;
        const double all =
            *launch_.atomics + *launch_.globalLoads.requests + *launch_.globalStores.requests;
        if (!(all > 0) || *launch_.atomics / all < atomicsFrom)
            return;
        add("atomics", headroom(),
            fmt::format("{:.0f} % of {}'s requests to global memory are atomic; add up in "
                        "registers, the warp and shared memory first",
                        100 * *launch_.atomics / all, launch_.name),
            {{"atomics", *launch_.atomics}, {"requests", all}});
    }

    void waves() {
        if (!launch_.waves || !launch_.tail || *launch_.tail < tailFrom)
            return;
        const double faster = std::ceil(*launch_.waves) / *launch_.waves;
        const Json evidence{{"waves", *launch_.waves},
                            {"tail", *launch_.tail},
                            {"blocks_per_sm", launch_.theoretical->blocks}};
        if (*launch_.waves <= 1)
            add("small-grid", std::min(faster, headroom()),
                fmt::format("{} has blocks for {:.0f} % of what the GPU holds at once; make more "
                            "and smaller blocks, or split the work along another dimension",
                            launch_.name, 100 * *launch_.waves),
                evidence);
        else
            add("tail", std::min(faster, headroom()),
                fmt::format("{} runs in {:.2f} waves: the last one fills {:.0f} % of the GPU; "
                            "choose a grid of whole waves, or persistent blocks",
                            launch_.name, *launch_.waves,
                            100 * (*launch_.waves - std::floor(*launch_.waves))),
                evidence);
    }

    void occupancy() {
        if (!launch_.achievedOccupancy || !launch_.theoretical ||
            *launch_.achievedOccupancy >= occupancyBelow)
            return;
        if (launch_.issueActive && *launch_.issueActive >= waitingBelow)
            return; // few warps keep it busy
        const double possible = launch_.theoretical->fraction;
        Json evidence{{"achieved_occupancy", *launch_.achievedOccupancy},
                      {"theoretical_occupancy", possible}};
        if (possible < occupancyBelow) {
            std::string limiters;
            for (const auto limiter : launch_.theoretical->limiters)
                limiters +=
                    (limiters.empty() ? "" : " and ") + std::string(device::nameOf(limiter));
            evidence["limiters"] = limiters;
            add("low-occupancy", headroom(),
                fmt::format("{} reaches {:.0f} % occupancy, limited to {:.0f} % by {}",
                            launch_.name, 100 * *launch_.achievedOccupancy, 100 * possible,
                            limiters),
                std::move(evidence));
        } else if (*launch_.achievedOccupancy < 0.7 * possible) {
            add("low-occupancy", headroom(),
                fmt::format("{} reaches {:.0f} % occupancy where {:.0f} % are possible: blocks "
                            "are few, or differ in length",
                            launch_.name, 100 * *launch_.achievedOccupancy, 100 * possible),
                std::move(evidence));
        }
    }

    void issue() {
        if (!launch_.issueActive || *launch_.issueActive < issueFrom)
            return;
        add("issue-bound", headroom(),
            fmt::format("{} is bound by instructions: one is issued in {:.0f} % of all cycles; "
                        "use wider loads, fewer index computations, or tensor cores",
                        launch_.name, 100 * *launch_.issueActive),
            {{"issue_active", *launch_.issueActive}});
    }

    void stall() {
        if (!launch_.issueActive || *launch_.issueActive >= waitingBelow)
            return;
        for (const auto &stall : launch_.stalls) {
            if (stall.name == "selected" || stall.name == "not_selected")
                continue;
            if (stall.share < stallFrom)
                return;
            const HotLine *line = lineThatWaits(stall.name);
            add("stall", headroom(),
                fmt::format(
                    "{} issues in {:.0f} % of all cycles; {:.0f} % of its warps wait {}{}",
                    launch_.name, 100 * *launch_.issueActive, 100 * stall.share, stall.meaning,
                    line != nullptr ? fmt::format(", most of them in line {}", line->line) : ""),
                {{"stall", stall.name},
                 {"share", stall.share},
                 {"issue_active", *launch_.issueActive}});
            if (line != nullptr) {
                findings_.back().file = line->file;
                findings_.back().line = line->line;
            }
            return;
        }
    }

    /// The line with most samples among those that wait for this above all.
    const HotLine *lineThatWaits(const std::string &reason) const {
        const auto found = std::ranges::find(launch_.lines, reason, &HotLine::stall);
        return found != launch_.lines.end() && found->file == launch_.file ? &*found : nullptr;
    }

    const Report &report_;
    int index_;
    const Launch &launch_;
    std::vector<Finding> &findings_;
    double share_ = 0;
    const Roof *roof_ = nullptr;
};

void gaps(const Report &report, std::vector<Finding> &findings) {
    if (report.device.kind != device::Kind::cuda || !report.gapShare ||
        *report.gapShare < gapsFrom || !(report.busySeconds > 0))
        return;
    Finding finding;
    finding.rule = "launch-gaps";
    finding.message =
        fmt::format("nothing runs in {:.0f} % of a call of {} launches; {}", 100 * *report.gapShare,
                    report.launches.size(),
                    report.launches.size() > 1 ? "fuse kernels, so that fewer are launched"
                                               : "the call is so short that its launch shows");
    finding.evidence = {{"span_seconds", report.spanSeconds},
                        {"busy_seconds", report.busySeconds},
                        {"launches", report.launches.size()}};
    finding.gain = report.spanSeconds / report.busySeconds;
    findings.push_back(std::move(finding));
}

} // namespace

std::vector<Finding> findingsIn(const Report &report) {
    std::vector<Finding> findings;
    for (std::size_t i = 0; i < report.launches.size(); ++i)
        LaunchRules(report, static_cast<int>(i), findings).run();
    gaps(report, findings);
    std::ranges::stable_sort(findings, std::greater<>(), &Finding::gain);
    return findings;
}

} // namespace cuda_agent::profile
