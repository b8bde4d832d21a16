// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.h"

#include <string>
#include <string_view>

namespace cuda_agent::plan {

/// How a candidate's process failed, as opposed to computing something wrong.
enum class FaultKind {
    illegalAddress,     ///< an access to memory that is not there, or misaligned
    illegalInstruction, ///< an instruction that the device lacks, __trap()
    assertion,          ///< a device-side assert
    arithmetic,         ///< an integer division by zero on the host
    launch,             ///< a launch that the device refuses
    hang,               ///< no answer within the time for a call
    outOfMemory,        ///< of the device, or the limit of the process
    limit,              ///< another limit of the sandbox: processor time, files
    died,               ///< the process ended, by itself or by a signal, without a word
    raised,             ///< a module's own Python or C++ code raised an exception
    other
};
/// "illegal_address", "illegal_instruction", "assertion", "arithmetic", "launch", "hang",
/// "out_of_memory", "limit", "died", "raised", "other".
std::string_view nameOf(FaultKind kind);

struct Fault {
    FaultKind kind = FaultKind::other;
    std::string detail; ///< one sentence, with the step or line where it is known
};
Json toJson(const Fault &fault);

/// Reads the kind from the sentences that runner, module worker and sandbox make: the driver's
/// numbers and words, PyTorch's errors, names of signals, limits. Those of an untrusted process may
/// be wrong about the kind; that it faulted is sure.
FaultKind faultKindOf(std::string_view sentence);

/// Whether a GPU should be looked at after such a fault: those that end in its context.
bool concernsDevice(FaultKind kind);

} // namespace cuda_agent::plan
