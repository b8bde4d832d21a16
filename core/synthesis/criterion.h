// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/synthesis/candidate.h"

#include <optional>

namespace cuda_agent::synthesis {

/// Why a candidate is not taken: a reason of a fixed set and one line for a person.
struct Rejection {
    std::string reason;
    std::string detail;
};

/// How clearly wrong answers have to fail.
enum class Rigour {
    clearly, ///< by several elements, so that they would with other inputs, too
    justSo,  ///< as they do for the judge: for a task that passed clearly before
};

/// Decides from what a filter process measured in `check` (README.md), by the allowances with which
/// the judge verifies: every standard wrong answer has to fail ("indistinct"), so has the task
/// without any one of its operators ("redundant operator"), the whole task has to tell its answer
/// from zeros and from the answer to other inputs ("unsuitable"), every input and parameter has to
/// matter ("unused"), what ran has to be what the candidate says ("other operators"), and two calls
/// have to agree ("not deterministic"). None: it passes.
/// Errors: request (the answer is malformed: task code shares the process that made it).
Result<std::optional<Rejection>> decideCheck(const Candidate &candidate, const Json &answer,
                                             Rigour rigour);

/// The same of `compile`: the compiled task has to be as right as a candidate has to be
/// ("compile differs"). `check`: the answer to check for the same candidate, or its outputs alone.
Result<std::optional<Rejection>> decideCompile(const Json &answer);

/// The public operators of a task of its own source: `ops` of the candidate, or, where it names
/// none (an endpoint wrote it), what ran.
std::vector<std::string> operatorsOf(const Candidate &candidate, const Json &answer);

} // namespace cuda_agent::synthesis
