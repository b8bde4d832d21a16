// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/policy/planner/fusion.h"

namespace cuda_agent::policy {

/// One running result of a pass over a row.
struct Reducer {
    enum class Kind { simple, position, moments, maxAndSumOfExp } kind = Kind::simple;
    int value = -1;  ///< the reduction; of pairs, the first (mean's sum, maximum)
    int second = -1; ///< of pairs
    int input = -1;  ///< what is reduced
    int number = 0;  ///< in its pass; names its fields
    std::string op;  ///< "sum", "max", ...
};

/// Reductions that one sweep over a row can do together.
struct Pass {
    std::vector<Reducer> reducers;
};

/// Orders a group's reductions into as few sweeps as their dependence allows. Pairs such as
/// (sum, squared distances from the mean) become one running result, so that no sweep has to wait
/// for another one's end.
std::vector<Pass> makePasses(const Program &program, const Group &group);

/// The literal of a scalar type that no number lies below, or above.
std::string lowestOf(const std::string &type);
std::string highestOf(const std::string &type);

/// Initial value, declared fields and combination of one reducer, as text.
struct Field {
    std::string type, name, initial;
};
std::vector<Field> fieldsOf(const Program &program, const Reducer &reducer, bool smallIndex);
/// The same as they lie in the state that tiles are added to one after the other. `exactSums`:
/// float sums are held in double, so that thousands of tiles do not add up their rounding.
std::vector<Field> stateFieldsOf(const Program &program, const Reducer &reducer, bool smallIndex,
                                 bool exactSums);
/// Statements of `combine(const State &other)`.
std::vector<std::string> combineText(const Program &program, const Reducer &reducer);

/// Names the struct of all passes that keep the same results: "MomentsState".
std::string stateName(const Program &program, const Pass &pass, bool smallIndex, bool exactSums);
/// The struct of that name with `identity`, `combine` and, for warps, `fromLane`.
std::string stateText(const Program &program, const Pass &pass, bool smallIndex, bool exactSums,
                      bool shuffles);

} // namespace cuda_agent::policy
