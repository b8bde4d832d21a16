// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/device/device.h"
#include "core/device/occupancy.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

// What one call of a plan candidate did on a device: the report that `cuda-agent profile` prints,
// the window draws and the agent reads. README.md has the table of all figures with their formulas
// and counters; the names of counters are those of Nsight Compute.

namespace cuda_agent::profile {

/// A figure that a device, a driver or a permission may leave out; never a made-up zero.
using Figure = std::optional<double>;

/// Bytes that moved, by the memory they moved in or out of.
struct Traffic {
    Figure dramRead;  ///< dram__bytes_read.sum (dram__bytes_op_read.sum on some chips)
    Figure dramWrite; ///< dram__bytes_write.sum (dram__bytes_op_write.sum)
    Figure l2;        ///< lts__t_bytes.sum: all that L2's tag stage was asked for
    Figure l1;        ///< l1tex__t_bytes.sum: all that L1's tag stage was asked for
    Figure shared;    ///< smsp__sass_data_bytes_mem_shared.sum: asked for by threads
    Figure local;     ///< l1tex__t_bytes_pipe_lsu_mem_local_op_{ld,st}.sum: spills and local arrays

    Figure dram() const; ///< read plus written
};

/// Arithmetic operations; a multiply-add is two.
struct Operations {
    Figure fp32;        ///< smsp__sass_thread_inst_executed_op_{fadd,fmul}_pred_on.sum + 2 ffma
    Figure fp16;        ///< 2 (hadd + hmul) + 4 hfma: these instructions work on pairs
    Figure fp64;        ///< dadd + dmul + 2 dfma
    Figure tensorFp16;  ///< sm__ops_path_tensor_src_fp16*.sum
    Figure tensorBf16;  ///< sm__ops_path_tensor_src_bf16_dst_fp32.sum
    Figure tensorTf32;  ///< sm__ops_path_tensor_src_tf32_dst_fp32.sum
    Figure tensorOther; ///< fp8, int8 and fp64: sm__ops_path_tensor_src_{fp8,int8,fp64}.sum

    Figure tensor() const; ///< all of the tensor cores
    Figure all() const;    ///< of any kind; none where none is known
};

/// One ceiling and how near the work came to it: rate = amount / seconds.
struct Roof {
    /// "DRAM", "L2", "L1/shared", "FP32", "TF32 tensor", "FP16/BF16 tensor"; on the cpu "counted
    /// bytes", against the copy rate, and "counted operations", against the fp32 rate of the host.
    std::string name;
    std::string unit; ///< "B" or "op": amount in it, rates in it a second
    double amount = 0;
    double rate = 0;
    Figure measured;    ///< ceiling of this very device (core/device/ceilings.h)
    Figure datasheet;   ///< what the vendor states for the card (datasheet.h)
    Figure ofMeasured;  ///< rate / measured
    Figure ofDatasheet; ///< rate / datasheet
    /// all operations / amount, for memories: the x axis of the roofline at this level.
    Figure intensity;
};

/// How warps reach global memory with one kind of access. A request is one warp's instruction; a
/// sector has 32 bytes.
struct Access {
    Figure requests; ///< l1tex__t_requests_pipe_lsu_mem_global_op_{ld,st}.sum
    Figure sectors;  ///< l1tex__t_sectors_pipe_lsu_mem_global_op_{ld,st}.sum
    Figure wanted;   ///< bytes, smsp__sass_data_bytes_mem_global_op_{ld,st}.sum: asked by threads
    /// wanted / sectors, at most 32: what threads use of the 32 bytes of a sector.
    Figure bytesPerSector() const;
    /// sectors / requests.
    Figure sectorsPerRequest() const;
    /// sectorsPerRequest x bytesPerSector / 32: what would do for the same bytes, side by side.
    Figure leastSectorsPerRequest() const;
};

/// Shared memory's 32 banks give 128 bytes in one pass (wavefront); lanes of a warp that want
/// different words of one bank take more passes.
struct SharedAccess {
    Figure requests;   ///< smsp__inst_executed_op_shared_{ld,st}.sum
    Figure wavefronts; ///< l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{ld,st}.sum
    Figure conflicts;  ///< l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{ld,st}.sum
    /// conflicts / wavefronts: the share of passes that an arrangement without conflicts spares.
    Figure conflictShare() const;
};

/// Why warps wait. Of the warps resident at each issue, how many wait for this reason.
struct Stall {
    std::string name;    ///< "long_scoreboard"
    std::string meaning; ///< "for a load from L1, L2 or DRAM"
    double warps = 0;    ///< smsp__average_warps_issue_stalled_<name>_per_issue_active.ratio
    double share = 0;    ///< warps / sum over all reasons
};

/// A line of the candidate on which warps were seen, and for what they waited there.
struct HotLine {
    std::string file;
    int line = 0;
    std::uint64_t samples = 0;
    double share = 0;      ///< of the kernel's samples
    std::string stall;     ///< the reason with most samples: "long_scoreboard"
    double stallShare = 0; ///< of the line's samples
};

enum class LaunchKind { kernel, memset, memcpy, step };
std::string_view nameOf(LaunchKind kind); ///< "kernel", "memset", "memcpy", "step"

/// One piece of work on the device (cuda), or one step of the plan (cpu).
struct Launch {
    LaunchKind kind = LaunchKind::kernel;
    std::string name;  ///< of the kernel, as compiled
    int step = -1;     ///< of the plan; -1: a copy that the runner adds
    std::string label; ///< "kernels/x.cu:entry (step 2)"
    std::string file;  ///< of the candidate, where it is one of its kernels
    int line = 0;      ///< of the kernel's definition there

    double seconds = 0;       ///< median over the traced calls: end - start of its activity record
    double low = 0, high = 0; ///< smallest and largest of them
    double share = 0;         ///< of the sum of all launches' seconds
    Figure gapBefore; ///< seconds from the end of the launch before to this one's start, median

    std::array<std::uint32_t, 3> grid{}, block{}, cluster{}; ///< zeros where there is none
    int registers = -1;                                      ///< a thread
    int spillBytes = -1; ///< a thread, as the compiler says; -1: a library's kernel
    int localBytes = -1; ///< a thread's local memory: stack and spills
    std::int64_t sharedStatic = -1, sharedDynamic = -1; ///< a block, bytes

    /// What an SM can hold of it at once, with what limits that (core/device/occupancy.h).
    std::optional<device::Occupancy> theoretical;
    /// sm__warps_active.avg.pct_of_peak_sustained_active / 100: mean resident warps over the most
    /// an SM may hold, over the cycles in which it had any.
    Figure achievedOccupancy;
    /// blocks / (multiprocessors x theoretical->blocks): how often the whole device is filled.
    Figure waves;
    /// 1 - waves / ceil(waves): share of block slots that stay empty, were all blocks alike.
    Figure tail;
    /// 1 - sm__cycles_active.avg / sm__cycles_elapsed.max: share of time in which SMs have no warp.
    Figure idleMultiprocessors;

    Traffic traffic;
    Operations operations;
    std::vector<Roof> roofs;
    Access globalLoads, globalStores;
    Figure atomics; ///< l1tex__t_requests_pipe_lsu_mem_global_op_{atom,red}.sum
    SharedAccess sharedLoads, sharedStores;
    Figure l1HitRate, l2HitRate; ///< l1tex__t_sector_hit_rate.pct, lts__t_sector_hit_rate.pct / 100
    std::vector<Stall> stalls;   ///< largest first
    /// smsp__issue_active.avg.pct_of_peak_sustained_active / 100: cycles with an instruction.
    Figure issueActive;
    /// smsp__thread_inst_executed_pred_on.sum / smsp__inst_executed.sum, of 32 lanes.
    Figure activeLanes;

    /// Of all launches of this kernel in a call; most samples first, at most 32. From CUPTI's
    /// samples of program counters: a line that waits for a load is that which uses the value.
    std::vector<HotLine> lines;

    /// What the plan says must move and be computed (counted.h), whatever the kernel does.
    std::uint64_t countedBytes = 0;
    double countedOperations = 0;

    std::map<std::string, double> counters; ///< all, by the name that the device gave them
};

/// A rule's remark on the counters (findings.h).
struct Finding {
    std::string rule;               ///< "uncoalesced-loads", "dram-bound", ...
    int launch = -1;                ///< index in Report::launches; -1: the whole call
    std::string message;            ///< one or two sentences, with the figures
    Json evidence = Json::object(); ///< the figures by name
    /// Upper bound of old time / new time of the whole call if only this were mended; 1: nothing.
    double gain = 1;
    bool stop = false; ///< at the limit: there is nothing to gain at this place
    std::string file;
    int line = 0;
};

struct Report {
    device::Info device;
    device::Ceilings ceilings; ///< measured here
    /// "CUPTI activity and counters", "CUPTI activity", "host clock": where figures come from.
    std::string source;
    /// Says what the times are good for; on the cpu that they say nothing about a GPU.
    std::string label;

    std::vector<Launch> launches; ///< of one call, in order
    /// Median seconds of a call as it is timed (graph replay, after a flush), nothing attached.
    double spanSeconds = 0;
    double busySeconds = 0; ///< sum of the launches' seconds
    /// (span - busy) / span, at least 0: share of a call in which nothing runs.
    Figure gapShare;
    Traffic traffic;       ///< sums over the launches; a figure only where each has it
    Operations operations; ///< as above
    std::vector<Roof> roofs;
    std::uint64_t countedBytes = 0; ///< inputs, parameters and outputs of the task, once each
    double countedOperations = 0;   ///< of its products and convolutions

    std::vector<Finding> findings;  ///< largest gain first
    std::vector<std::string> notes; ///< what could not be measured, and why
};

Json toJson(const Report &report);
/// One line a launch and one, called "all", for the whole call; a head line with the names, which
/// are those of the JSON. A missing figure is an empty field.
std::string toCsv(const Report &report);

} // namespace cuda_agent::profile
