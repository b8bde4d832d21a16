// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.h"

#include <QStringList>

#include <optional>
#include <vector>

namespace cuda_agent::widgets {

/// A figure that a device, a driver or a permission may leave out; never a made-up zero.
using Figure = std::optional<double>;

/// One memory or kind of arithmetic, and how near work came to what it can do at most.
struct SpeedOfLight {
    QString name; ///< as the profile has it: "DRAM", "FP32"; on the cpu "counted bytes"
    bool memory = false;
    double amount = 0;              ///< bytes or operations
    double rate = 0;                ///< of them a second
    Figure measured, datasheet;     ///< ceilings, a second
    Figure ofMeasured, ofDatasheet; ///< shares of 1
    Figure intensity;               ///< of memories: all operations a byte
};

/// One ceiling of the device, whether a kernel comes near it or not. A second.
struct Ceiling {
    QString name;
    bool memory = false;
    Figure measured, datasheet;
};

/// A line of the candidate on which warps were seen, from samples of their program counters.
struct HotLine {
    QString file;
    int line = 0;
    double share = 0;      ///< of the kernel's samples
    QString stall;         ///< what most of them waited for: "long_scoreboard"
    double stallShare = 0; ///< of the line's samples
};

/// A kernel, fill, copy or step of one call; or the whole call.
struct ProfiledLaunch {
    QString kind; ///< "kernel", "memset", "memcpy", "step"; of the whole call "call"
    QString name;
    QString label; ///< where it comes from: "kernels/x.cu:entry (step 2)"
    QString file;  ///< of the candidate; empty for a library's kernel
    int line = 0;
    double seconds = 0, low = 0, high = 0;
    Figure share; ///< of the sum over all launches
    QString grid, block;
    std::vector<SpeedOfLight> roofs;
    Figure achievedOccupancy, theoreticalOccupancy;
    QStringList limiters;       ///< of the occupancy, as the profile has them: "registers"
    int registers = -1;         ///< a thread; -1: unknown
    int spillBytes = -1;        ///< likewise
    std::vector<HotLine> lines; ///< most samples first; none where they were not taken

    const SpeedOfLight *roof(const QString &name) const; ///< null when there is none
    /// The memory, or kind of arithmetic, that is nearest to its measured ceiling; null when none
    /// has one.
    const SpeedOfLight *nearest(bool memory) const;
    /// Operations a second, all kinds; none when the profile does not know both.
    Figure performance() const;
};

/// A remark of the rules on the counters.
struct ProfileFinding {
    QString rule;
    int launch = -1; ///< place in `launches`; -1: the whole call
    QString message;
    Json evidence = Json::object(); ///< figures by name
    double gain = 1;                ///< at most: old over new time of the whole call
    bool stop = false;              ///< at the limit
    QString file;
    int line = 0;
};

/// What `cuda-agent profile --json` and the observation of the agent's Profile hold, read with
/// care: what is missing, of another type or no number that can be is taken as absent.
struct KernelProfile {
    QString device;
    bool cpu = false;              ///< bytes and operations are those that the plan counts
    QString source;                ///< where the figures come from
    QString label;                 ///< what the times are good for
    std::vector<Ceiling> ceilings; ///< memories outermost first, then arithmetic
    std::vector<ProfiledLaunch> launches;
    ProfiledLaunch whole;
    Figure gapShare;                      ///< of a call in which nothing runs
    std::vector<ProfileFinding> findings; ///< largest gain first
    QStringList notes;

    /// The whole call for -1.
    const ProfiledLaunch &launch(int index) const;
    /// The launch that takes longest; -1 when there is none.
    int longest() const;
};

/// None for what is no profile at all.
std::optional<KernelProfile> kernelProfileOf(const Json &json);

} // namespace cuda_agent::widgets
