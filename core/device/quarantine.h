// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/device/device.h"
#include "core/sandbox/sandbox.h"

#include <optional>
#include <string>
#include <vector>

namespace cuda_agent::device {

// A GPU that does not come back after a kernel makes everything that touches it wait for ever. Such
// a device is put into quarantine: a file in the cache folder, which every lease of every process
// of this user looks for, until a person lifts it (`cuda-agent doctor --lift-quarantine cuda0`).

struct Quarantine {
    std::string device; ///< "cuda0"
    std::string reason; ///< one sentence
    double time = 0;    ///< seconds since the epoch; 0 when the file does not say
};

/// "cuda0": kind and the N of /dev/nvidiaN.
std::string quarantineName(const Info &info);

/// Where the files lie, one a device. It need not be there.
std::filesystem::path quarantineFolder();

/// Puts a device into quarantine; the first reason stands. Errors: machine (the cache folder cannot
/// be written).
Result<void> quarantine(const std::string &device, const std::string &reason);
/// Reads one file. A file that cannot be read is a quarantine too: nobody can know that it is none.
std::optional<Quarantine> quarantineOf(const std::string &device);
/// All there are, sorted by name.
std::vector<Quarantine> quarantines();
/// Errors: machine, when the device is in quarantine, with reason, time and what to do.
Result<void> checkNotQuarantined(const std::string &device);
/// When it was not in quarantine, that is fine. Errors: machine (the file cannot be removed).
Result<void> liftQuarantine(const std::string &device);

/// What a probe found: nothing, or what is wrong with the device, as a sentence.
using ProbeResult = std::optional<std::string>;
struct ProbeOptions {
    std::chrono::milliseconds patience{30'000}; ///< a sound GPU takes about a second
    /// Where shared libraries of this program lie, beside the system's folders.
    std::vector<std::filesystem::path> libraryFolders;
    std::filesystem::path program; ///< empty: cuda-agent-probe beside the programs
};
/// Runs `cuda-agent-probe`, which makes a context of its own, fills memory, runs a small kernel and
/// looks at both, in a sandbox that shows this device only. Blocks for its patience and 10 s more
/// at most. Errors: request (no such name), machine (nothing can be probed: no sandbox, no driver,
/// no program), stopped.
Result<ProbeResult> probe(const std::string &device, const ProbeOptions &options,
                          std::stop_token stop = {});

/// As probe(), but a device that this process found well less than `wellFor` ago counts as well:
/// a probe opens the GPU, which others wait for that open or leave it. Any thread.
Result<ProbeResult> probeUnlessWell(const std::string &device, std::chrono::milliseconds wellFor,
                                    const ProbeOptions &options, std::stop_token stop = {});

/// Probes a device and, when it is well, lifts its quarantine. True when it was in one. Blocks as
/// probe() does. Errors: as probe(); machine, with what was found, when the device is not well.
Result<bool> liftAfterProbe(const std::string &device, const ProbeOptions &options,
                            std::stop_token stop = {});

/// After the process of a candidate or a task faulted on `info`, which its `record` tells about:
/// whether others can go on there. A process that outlived SIGKILL, or two probes in a row that
/// find something, put the device into quarantine. Where many fault, a probe counts for 2 s. On the
/// cpu device there is nothing to do.
/// Errors: machine, when the device is in quarantine now; stopped.
Result<void> checkAfterFault(const Info &info, const sandbox::Record &record,
                             const ProbeOptions &options, std::stop_token stop = {});

} // namespace cuda_agent::device
