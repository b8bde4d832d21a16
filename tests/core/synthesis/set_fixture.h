// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/synthesis/tasks.h"

#include <deque>

namespace cuda_agent::synthesis {

/// A composed candidate whose text, identity and hashes are its own.
inline Candidate candidateOf(std::size_t index, std::vector<std::string> ops = {"linear", "gelu"},
                             std::vector<std::string> families = {"product", "pointwise"}) {
    Candidate candidate;
    candidate.index = index;
    candidate.id = fmt::format("id{}", index);
    candidate.source = "composed";
    candidate.ops = ops;
    candidate.kinds = std::move(ops);
    candidate.families = std::move(families);
    candidate.dtype = "float32";
    candidate.code = fmt::format("# {}\n", index);
    candidate.exactHash = fmt::format("exact{}", index);
    candidate.nearHash = fmt::format("near{}", index);
    candidate.skeletonHash = fmt::format("skeleton{}", index);
    return candidate;
}

inline Checked checkedOf(const Candidate &candidate, Stage stage, std::string graph = {}) {
    Checked checked;
    checked.index = candidate.index;
    checked.stage = stage;
    if (stage == Stage::check) {
        checked.figures["ops"] = candidate.ops;
        checked.figures["graph"] = Json::array({"aten.mm", "aten.gelu"});
        checked.figures["graph_hash"] =
            graph.empty() ? fmt::format("graph{}", candidate.index) : std::move(graph);
        checked.figures["memory_bytes"] = 4096;
    } else {
        checked.seconds = stage == Stage::time ? 2e-3 : 1e-3;
    }
    return checked;
}

inline Checked refused(std::size_t index, Stage stage, std::string reason) {
    Checked checked;
    checked.index = index;
    checked.stage = stage;
    checked.outcome = Outcome::rejected;
    checked.reason = std::move(reason);
    return checked;
}

/// Candidates that passed everything, and the entries that borrow them.
class Passed {
  public:
    void add(Candidate candidate, const std::string &graph = {}) {
        const auto &kept = candidates_.emplace_back(std::move(candidate));
        Entry entry{&kept};
        entry.checked = &outcomes_.emplace_back(checkedOf(kept, Stage::check, graph));
        entry.timed = &outcomes_.emplace_back(checkedOf(kept, Stage::time));
        entry.compiled = &outcomes_.emplace_back(checkedOf(kept, Stage::compile));
        entry.again = &outcomes_.emplace_back(checkedOf(kept, Stage::again));
        entry.third = &outcomes_.emplace_back(checkedOf(kept, Stage::third));
        entries.push_back(entry);
    }
    /// The outcome of a stage of the last one, to be changed.
    Checked &last(Stage stage) {
        return outcomes_[outcomes_.size() - std::size(stages) + static_cast<std::size_t>(stage)];
    }
    std::vector<Entry> entries;

  private:
    std::deque<Candidate> candidates_;
    std::deque<Checked> outcomes_;
};

} // namespace cuda_agent::synthesis
