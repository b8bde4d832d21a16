// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.h"

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace cuda_agent::synthesis {

/// Why a candidate is refused that is no Python at all.
inline constexpr const char *notPython = "not python";

/// A task that was proposed. Figures that were estimated say so; nothing of it has been run.
struct Candidate {
    std::size_t index = 0;
    std::string id;     ///< of its text
    std::string source; ///< one of Recipe::sources
    std::vector<std::string> ops, kinds, families;
    std::string dtype;
    bool backward = false;
    std::string code;
    std::map<std::string, std::string> small; ///< constants that make it small
    double estimatedSeconds = 0;
    std::uint64_t estimatedBytes = 0;
    // What its text is like.
    std::string exactHash, nearHash, skeletonHash;
    double similarity = 0; ///< to the nearest of the benchmark's problems
    std::string nearest;
    /// Why it is not even filtered: "no task", "duplicate", "near duplicate", "many variants",
    /// "near the benchmark"; empty when it is. `detail` says more.
    std::string rejected, detail;
};
Json toJson(const Candidate &candidate);
/// Errors: request (fields that are missing or of other types).
Result<Candidate> candidateFromJson(const Json &json);

/// Refuses what repeats an earlier candidate or the benchmark. Candidates have to come in the order
/// of their indices, so that the outcome is the recipe's alone.
class Screen {
  public:
    Screen(double similarity, int variants) : similarity_(similarity), variants_(variants) {}
    /// Sets `rejected` where the candidate is refused, and remembers it.
    void look(Candidate &candidate);

  private:
    double similarity_;
    int variants_;
    std::set<std::string> exact_, near_;
    std::unordered_map<std::string, int> skeletons_;
};

} // namespace cuda_agent::synthesis
