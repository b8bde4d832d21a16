// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/synthesis/candidate.h"
#include "core/synthesis/checked.h"
#include "core/synthesis/recipe.h"

namespace cuda_agent::synthesis {

/// A task of the set.
struct SetTask {
    const Candidate *candidate = nullptr;
    const Checked *checked = nullptr, *timed = nullptr;
    const Checked *compiled = nullptr; ///< null in a draft, where that was not tried yet
    std::string name;                  ///< as nameOf() makes it
    int level = 1;
    std::string split; ///< "train", "validation", "held_out", "outer"
    Json difficulty;   ///< measured {"reward", "turns"}, or null
    Json toJson() const;
};

/// What was accepted, and what fell away when the set was put together: "same graph".
struct TaskSet {
    std::vector<SetTask> tasks;
    std::map<std::string, std::size_t> rejected;
};

/// One candidate with what the filter said of it; null where a stage has not been.
struct Entry {
    const Candidate *candidate = nullptr;
    const Checked *checked = nullptr, *timed = nullptr, *compiled = nullptr, *again = nullptr,
                  *third = nullptr;
};

/// The first `recipe.tasks` of those that passed everything up to `last`, at least to
/// Stage::time, and failed nothing behind it, in the order of `entries`, without those whose
/// operator graph is an earlier one's, with levels and splits. `difficulty`: measured figures by id
/// of candidate. Borrows everything.
TaskSet assemble(const Recipe &recipe, const std::vector<Entry> &entries,
                 const std::map<std::string, Json> &difficulty, Stage last = Stage::third);
/// A task a line, as set.jsonl.gz has them.
std::string linesOf(const TaskSet &set);

/// "000042_linear_gelu", "000043_mean_backward".
std::string nameOf(const Candidate &candidate, const std::vector<std::string> &kinds);

/// 1 to 3: by the number of operators, the size of the graph, and, where it was measured, by how
/// hard the task was for the planner.
int levelOf(const Candidate &candidate, const Checked &checked, const Json &difficulty);

} // namespace cuda_agent::synthesis
