// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.h"
#include "core/task/task.h"

#include <map>
#include <optional>
#include <string>

namespace cuda_agent::bench {

/// The number that a JSON pointer leads to, where it is one and above 0.
std::optional<double> positiveAt(const Json &json, const char *pointer);

/// How the evaluation of one candidate, or of one policy on one task, ended.
enum class Outcome {
    correct,
    wrong,       ///< judged, and not right
    notCompiled, ///< refused by a compiler, or not in a form that can be judged
    none,        ///< the policy has not found anything right
    missing,     ///< no candidate was there for the task
    unusable,    ///< the task cannot be judged by: it fails, or anything would pass
    outOfTime,   ///< the time for one task was up
    machine,     ///< an infrastructure failure; says nothing of the candidate
};
std::string_view nameOf(Outcome outcome); ///< "correct", "not_compiled", ..., "machine"

/// One line of the results.
struct Record {
    std::string task; ///< id in the suite
    std::string level;
    std::string name; ///< of the file
    task::Numerics numerics = task::Numerics::standard;
    int sample = -1; ///< of candidates made elsewhere; -1: a policy's
    Outcome outcome = Outcome::none;
    std::string cause;    ///< why it is not correct, one line
    Json verdict;         ///< as of the contract; null when nothing was judged
    bool algebra = false; ///< right by rewriting what is the same in exact arithmetic only
    int turns = 0;        ///< of a policy
    int bestTurn = 0;
    std::string session;                  ///< folder of a policy's log, relative to the results
    double seconds = 0;                   ///< wall time, waiting for the device included
    std::map<std::string, double> phases; ///< seconds by what was going on
    /// Of what decides results: "program", "device", "driver", "reference" (PyTorch's).
    Json versions = Json::object();

    /// Speed-up over a stock time of the verdict ("eager", "compile" of the declared mode, or
    /// "best_stock"); nothing when there is no such time or the outcome is not correct.
    std::optional<double> speedup(const std::string &over) const;
    /// Fraction of the machine's limit; 0 when not correct.
    double fractionOfLimit() const;
    /// Another try could end otherwise: it failed by the machine's fault.
    bool again() const { return outcome == Outcome::machine; }
    /// The same task, mode and sample.
    std::string key() const;
};
Json toJson(const Record &record);
/// Errors: request (fields that are missing or of other types).
Result<Record> recordFromJson(const Json &json);

/// Outcome and cause of a verdict of the contract.
void setOutcome(Record &record, Json verdict);

} // namespace cuda_agent::bench
