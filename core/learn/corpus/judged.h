// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/corpus/rehearsal.h"
#include "core/reward/reward.h"

#include <map>

namespace cuda_agent::learn {

/// A candidate that a document is to be made of.
struct Draft {
    std::string name;    ///< the planner's
    std::string thought; ///< of the turn that writes it
    CandidateText sound;
    std::optional<Mutation> mutation;
    CandidateText written; ///< `sound`, what the mutation made of it, or a policy's own try
    /// Where it is a policy's own: the thought of the turn that writes `sound` in its place.
    std::optional<std::string> instead;
};

/// Documents by what the judge found.
struct JudgedCounts {
    std::size_t correct = 0;     ///< in the first turn
    std::size_t wrong = 0;       ///< likewise: it compiles
    std::size_t own = 0;         ///< of the wrong ones and of those below: a policy's own
    std::size_t notCompiled = 0; ///< likewise
    std::size_t unfound = 0;  ///< of the correct ones: with a mistake that the judge did not find
    std::size_t repaired = 0; ///< correct in a later turn
    std::size_t improved = 0; ///< correct from the first turn on and faster in the second
    std::size_t machine = 0;  ///< dropped, as the machine failed; in none of the other counts
    std::size_t tooLong = 0;  ///< dropped: longer with what was answered than one may be
    std::size_t unmended = 0; ///< dropped: the sound candidate does not stand either
    std::size_t refused = 0;  ///< dropped: a tool refused a call, a fault of this program
    std::size_t verdicts = 0; ///< that were given now, not known before
    std::map<std::string, std::size_t> turns;   ///< documents by turns of the policy
    std::map<std::string, std::size_t> rewards; ///< documents by the reward of the last verdict
    void add(const Document &document);
    void add(const JudgedCounts &other);
};
Json toJson(const JudgedCounts &counts);

/// The turn that writes a draft's sound candidate in place of a policy's own, with the thought
/// `instead`. Errors: request (a text that the template cannot hold).
Result<chat::Segment> anewTurn(const CandidateText &sound, const std::string &instead,
                               bool compiled);
/// Likewise in place of one that is correct, and may be too slow.
Result<chat::Segment> fasterTurn(const CandidateText &sound, const std::string &instead);
/// The turn that ends a conversation whose last verdict, of that reward, is correct. Errors: none
/// that is to be expected.
Result<chat::Segment> endingTurn(int reward);

struct JudgedOptions {
    std::size_t mostBytes = 12000; ///< of a document
    double improvedShare =
        0.5; ///< of correct candidates that a faster one follows where it is known
    /// How much faster that is: by its verdict, and at the low end of the interval when both are
    /// timed in turns.
    double leastGain = reward::clearlyFaster;
};

struct JudgedDocuments {
    std::vector<Document> documents; ///< in the order of the drafts; some are dropped
    JudgedCounts counts;
    std::string machineProblem; ///< of the first one that was dropped for it
};

/// Makes documents of one task's drafts by playing each before the judge: the turn that writes the
/// candidate, what the tools answered, and, where that was a failure of a mutated one, the turn
/// that mends it and what was answered then; likewise of a policy's own try that is wrong, with a
/// turn that writes the sound candidate anew; where it was correct and another draft of the task is
/// faster, sometimes the turn that goes over to that. A conversation that has come to a correct
/// candidate ends with a turn that says so. A draft that is wrong without a mutation stays one
/// turn. `head`: task, split, level and prompt of the documents. Blocks. Errors: request (the task
/// cannot be judged by), stopped.
Result<JudgedDocuments> playDrafts(const std::vector<Draft> &drafts, const Document &head,
                                   TaskJudge &judge, const JudgedOptions &options,
                                   std::mt19937_64 &generator, const std::stop_token &stop);

} // namespace cuda_agent::learn
