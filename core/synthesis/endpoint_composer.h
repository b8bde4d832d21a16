// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/policy/endpoint/endpoint.h"
#include "core/synthesis/candidate.h"
#include "core/synthesis/recipe.h"

#include <stop_token>

namespace cuda_agent::synthesis {

/// The composer that asks a language model. It names the operators, the model writes the task; what
/// comes back is nobody's word for anything and goes through the same screen and filter, in
/// processes of its own. Not thread-safe.
class EndpointComposer {
  public:
    /// `crawl`: entries of crawl.json, for the names of operators.
    EndpointComposer(const Recipe &recipe, policy::EndpointConfig config, const Json &crawl);

    /// Whether a candidate is this composer's part: drawn by recipe, seed and index.
    bool takes(std::size_t index) const;
    /// Asks, again where the answer holds no task, `recipe.endpointAttempts` times at most; then
    /// the candidate is rejected by "no task". Blocks. Errors: machine (the endpoint does not
    /// answer), request (it refuses), stopped.
    Result<Candidate> write(std::size_t index, std::stop_token stop);

    std::int64_t tokens() const { return tokens_; }

  private:
    Recipe recipe_;
    policy::EndpointConfig config_;
    std::vector<std::string> operators_;
    double share_ = 0;
    std::int64_t tokens_ = 0;
};

/// The task in an answer: its last block of Python that has the three names a task has; empty where
/// there is none.
std::string taskIn(const std::string &answer);

} // namespace cuda_agent::synthesis
