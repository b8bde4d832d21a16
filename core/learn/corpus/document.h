// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/corpus/mutation.h"
#include "core/policy/chat/chat.h"
#include "core/policy/planner/search.h"

namespace cuda_agent::learn {

/// The file that documents write their kernels to.
inline constexpr const char *kernelFile = "kernels/fused.cu";

/// A conversation to train a base model on: what is to be done, and one turn that does it.
struct Document {
    std::string task;
    std::string split;
    std::string level;
    std::string candidate; ///< the planner's name of it
    std::optional<Mutation> mutation;
    std::vector<chat::Segment> segments;
    std::size_t thoughtBytes = 0, kernelBytes = 0, planBytes = 0;

    std::size_t bytes() const;
};

/// {"task", "split", "level", "candidate", "mutation", "segments": [{"by", "text"}]}
Json toJson(const Document &document);
/// Errors: request.
Result<Document> documentFromJson(const Json &json);

/// The candidate's files as documents hold them. Errors: failed (no such candidate).
Result<CandidateText> candidateText(const policy::SearchSpace &space, const std::string &name,
                                    device::Kind kind);

/// What is done, in which schedule, and what is expected of it, in a few sentences.
std::string thoughtOf(const policy::SearchSpace &space, const std::string &name, const Json &plan);

/// The turn that writes that candidate and has it verified. Errors: request (a text that the
/// template cannot hold).
Result<chat::Segment> turnOf(const std::string &thought, const CandidateText &candidate);

} // namespace cuda_agent::learn
