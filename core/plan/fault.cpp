// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/fault.h"

#include <array>

namespace cuda_agent::plan {

namespace {

struct Sign {
    std::string_view text;
    FaultKind kind;
};
// The first that occurs in the sentence counts, so what says more stands before what says less.
constexpr std::array signs = std::to_array<Sign>({
    {"did not finish within", FaultKind::hang},
    {"(wall limit)", FaultKind::hang},
    {"CUDA error 702 ", FaultKind::hang}, // launch timed out: the display's watchdog
    {"the launch timed out", FaultKind::hang},
    {"memory limit)", FaultKind::outOfMemory},
    {"CUDA error 2 ", FaultKind::outOfMemory},
    {"OutOfMemoryError", FaultKind::outOfMemory},
    {"out of memory", FaultKind::outOfMemory},
    {"MemoryError", FaultKind::outOfMemory},
    {"CUDA error 710 ", FaultKind::assertion},
    {"device-side assert", FaultKind::assertion},
    {"assertion failed", FaultKind::assertion},
    {"CUDA error 700 ", FaultKind::illegalAddress},
    {"CUDA error 716 ", FaultKind::illegalAddress}, // misaligned
    {"CUDA error 717 ", FaultKind::illegalAddress}, // another address space
    {"illegal memory access", FaultKind::illegalAddress},
    {"misaligned address", FaultKind::illegalAddress},
    {"SIGSEGV", FaultKind::illegalAddress},
    {"SIGBUS", FaultKind::illegalAddress},
    {"CUDA error 714 ", FaultKind::illegalAddress}, // the stack of a thread
    {"CUDA error 715 ", FaultKind::illegalInstruction},
    {"CUDA error 718 ", FaultKind::illegalInstruction}, // the program counter
    {"CUDA error 719 ", FaultKind::illegalInstruction}, // unspecified; __trap() among others
    {"illegal instruction", FaultKind::illegalInstruction},
    {"unspecified launch failure", FaultKind::illegalInstruction},
    {"__trap", FaultKind::illegalInstruction},
    {"SIGILL", FaultKind::illegalInstruction},
    {"SIGFPE", FaultKind::arithmetic},
    {"CUDA error 1 ", FaultKind::launch},
    {"CUDA error 9 ", FaultKind::launch},
    {"CUDA error 701 ", FaultKind::launch},
    {"CUDA error 720 ", FaultKind::launch},
    {"too many resources requested", FaultKind::launch},
    {"invalid configuration argument", FaultKind::launch},
    {" limit)", FaultKind::limit},
    {"process ended during", FaultKind::died},
    {"LaunchFault: ", FaultKind::other},
    {" (while a call)", FaultKind::raised},
    {" (while a timed call)", FaultKind::raised},
});

} // namespace

std::string_view nameOf(FaultKind kind) {
    switch (kind) {
    case FaultKind::illegalAddress:
        return "illegal_address";
    case FaultKind::illegalInstruction:
        return "illegal_instruction";
    case FaultKind::assertion:
        return "assertion";
    case FaultKind::arithmetic:
        return "arithmetic";
    case FaultKind::launch:
        return "launch";
    case FaultKind::hang:
        return "hang";
    case FaultKind::outOfMemory:
        return "out_of_memory";
    case FaultKind::limit:
        return "limit";
    case FaultKind::died:
        return "died";
    case FaultKind::raised:
        return "raised";
    case FaultKind::other:
        return "other";
    }
    return "other";
}

Json toJson(const Fault &fault) {
    return {{"kind", nameOf(fault.kind)}, {"detail", fault.detail}};
}

FaultKind faultKindOf(std::string_view sentence) {
    for (const auto &sign : signs)
        if (sentence.find(sign.text) != sentence.npos)
            return sign.kind;
    return FaultKind::other;
}

bool concernsDevice(FaultKind kind) {
    return kind != FaultKind::outOfMemory && kind != FaultKind::launch &&
           kind != FaultKind::arithmetic && kind != FaultKind::limit && kind != FaultKind::raised;
}

} // namespace cuda_agent::plan
