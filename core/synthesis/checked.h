// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.h"

#include <optional>
#include <string>
#include <vector>

namespace cuda_agent::synthesis {

/// In this order. `check`: whether it is fit; `time`: of eager PyTorch; `compile`: torch.compile;
/// `again`, `third`: whether it is fit with other inputs, and with others still, so that nothing is
/// in a set by the luck of one draw or two.
enum class Stage { check, time, compile, again, third };
inline constexpr Stage stages[]{Stage::check, Stage::time, Stage::compile, Stage::again,
                                Stage::third};
std::string_view nameOf(Stage stage); ///< "check", "time", "compile", "again", "third"

enum class Outcome {
    passed,
    rejected,
    machine, ///< an infrastructure failure, says nothing of the candidate; tried again
};
std::string_view nameOf(Outcome outcome);

/// What a stage of the filter found out about one candidate.
struct Checked {
    std::size_t index = 0;
    Stage stage = Stage::check;
    Outcome outcome = Outcome::passed;
    std::string reason; ///< of a rejection, one of a fixed set: "raises", "memory", ...
    std::string detail; ///< one line for a person
    double seconds = 0; ///< median of a call, eager (time) or compiled (compile); 0: not measured
    /// What the stage measured, as README.md has it: "ops", "graph", "graph_hash", "memory_bytes",
    /// "operations", "counted_bytes", "bitwise"; "compile_seconds".
    Json figures = Json::object();
    double tookSeconds = 0; ///< of a filter process
};
Json toJson(const Checked &checked);
/// Errors: request.
Result<Checked> checkedFromJson(const Json &json);

} // namespace cuda_agent::synthesis
