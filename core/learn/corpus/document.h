// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/corpus/mutation.h"
#include "core/learn/corpus/spelling.h"
#include "core/policy/chat/chat.h"
#include "core/policy/planner/search.h"
#include "core/session/state.h"

namespace cuda_agent::learn {

/// The file that documents write their kernels to.
inline constexpr const char *kernelFile = "kernels/fused.cu";

/// What the judge found of the candidate that a turn left.
struct TurnVerdict {
    bool compiled = false;
    bool correct = false;
    int reward = -1;        ///< milestone: see core/reward
    double seconds = 0;     ///< median of a call; 0 where it was not timed
    double low = 0;         ///< of its confidence interval
    double high = 0;        ///< likewise
    double overEager = 0;   ///< speed-up; 0 where that was not timed
    double overCompile = 0; ///< likewise
    std::string problem;    ///< one line why it is not correct, or empty
    bool operator==(const TurnVerdict &) const = default;
};
/// {"compiled", "correct", "reward", "seconds", "low", "high", "over_eager", "over_compile",
/// "problem"}
Json toJson(const TurnVerdict &verdict);
/// Errors: request.
Result<TurnVerdict> turnVerdictFromJson(const Json &json);
/// Of what the tool Verify answered; a refusal is a candidate that does not compile.
TurnVerdict verdictOf(const session::Observation &observation);

/// A conversation to train a base model on: what is to be done, and one turn that does it; of one
/// that was judged also what the tools answered, further turns, and the end.
struct Document {
    std::string task;
    std::string split;
    std::string level;
    std::string candidate; ///< the planner's name of it
    std::optional<Mutation> mutation;
    std::vector<chat::Segment> segments;
    /// Of each turn that has its candidate verified, in order; empty: nothing was judged.
    std::vector<TurnVerdict> verdicts;
    std::size_t thoughtBytes = 0, kernelBytes = 0, planBytes = 0;

    std::size_t bytes() const;
    std::size_t turns() const; ///< of the policy
};

/// {"task", "split", "level", "candidate", "mutation", "segments": [{"by", "text"}], "verdicts"};
/// the last only where it was judged.
Json toJson(const Document &document);
/// Errors: request.
Result<Document> documentFromJson(const Json &json);

/// The candidate's files as documents hold them. Errors: failed (no such candidate).
Result<CandidateText> candidateText(const policy::SearchSpace &space, const std::string &name,
                                    device::Kind kind);

/// Of each step of the plan a line: what it reads, computes and writes, and of a kernel its loops,
/// where each access goes with them, and its schedule, so that a model derives these before it
/// writes them. What the planner expects of it is not there: a model that cannot compute it would
/// make it up.
std::string thoughtOf(const std::vector<policy::SearchSpace::Part> &parts, const Json &plan,
                      const SizeSpelling &spelling);

/// The turn that writes that candidate and has it verified. Errors: request (a text that the
/// template cannot hold).
Result<chat::Segment> turnOf(const std::string &thought, const CandidateText &candidate);

} // namespace cuda_agent::learn
