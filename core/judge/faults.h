// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/device/quarantine.h"
#include "core/judge/judge.h"

namespace cuda_agent::judge {

// A fault of a candidate (an illegal address, an endless kernel, an assertion, ...) is a verdict of
// its own kind. On a GPU it may also leave the device unusable for everybody, which is nobody's
// verdict: the device is looked at, and one that does not answer goes into quarantine.

/// How this program probes a device: with the shared libraries that the probe needs.
device::ProbeOptions probeOptions();

/// A candidate whose kernels cannot even be called, for the reason in `error` (of kind failed),
/// which becomes the verdict's problem.
/// Errors: machine, when the device is in quarantine now; stopped.
Result<void> takeStartFault(const Error &error, const device::Info &device, Verdict &verdict,
                            std::stop_token stop);

/// Ends the candidate's process; takes over what it says about limits, and the fault that made the
/// verdict fail. Errors: as above.
Result<void> endProcess(plan::CandidateProcess &process, const device::Info &device,
                        Verdict &verdict, std::stop_token stop);

/// What a failure of the machine comes to that ended a verdict: ends the process, and where the GPU
/// turns out to be unwell and goes into quarantine, that is the error to tell; else `error` itself.
Error explained(const Error &error, plan::CandidateProcess &process, const device::Info &device,
                std::stop_token stop);

} // namespace cuda_agent::judge
