// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/knowledge/signature.h"

namespace cuda_agent::knowledge {

/// What was found out about one candidate for one task on one device. Seconds are seconds; zero
/// stands for what was not measured.
struct Record {
    std::int64_t id = 0; ///< in the store; 0: not in one yet
    Signature task;
    std::string taskName;
    std::string deviceKind;   ///< "cpu" | "cuda"
    std::string device;       ///< "NVIDIA H200"
    std::string architecture; ///< "sm_90"
    std::string numerics;     ///< "default", "tf32", "published"

    std::string policy;    ///< "planner", "endpoint", or "engineer" for a candidate made by hand
    std::string candidate; ///< kind: "plan" | "module"
    std::string schedule;  ///< the planner's name of the candidate; empty for other policies
    std::string note;      ///< what was done, in a paragraph
    std::string hash;      ///< SHA-256 over the candidate's files
    std::string session;   ///< folder of the session that found it
    int turn = 0;          ///< of that session

    bool compiled = false;
    bool correct = false;
    bool full = false; ///< verified in full, not only in training strength
    int reward = -1;
    std::string problem; ///< what failed, when it is not correct
    double seconds = 0;
    double againstEager = 0; ///< speed-up: the other's time over the candidate's
    double againstCompile = 0;
    double againstStock = 0; ///< against the fastest stock setting
    double fractionOfLimit = 0;
    double time = 0; ///< of the verdict, seconds since the epoch
};

/// Field names as in README.md of this folder.
Json toJson(const Record &record);

/// Takes over what a verdict (the object of core/judge) says.
void setVerdict(Record &record, const Json &verdict);

/// One line of text, at most `most` bytes, whole UTF-8 characters; "…" where something is left out.
std::string oneLine(std::string_view text, std::size_t most);

} // namespace cuda_agent::knowledge
