// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/judge/judge.h"

#include <string>
#include <vector>

namespace cuda_agent::endurance {

/// One task that is prepared once and kept open.
struct Task {
    std::filesystem::path file;
    std::vector<std::string> sets; ///< NAME=VALUE
    modules::Rules rules = modules::Rules::published;
    bool timing = false;
};

/// One candidate with the places where it may be stopped: "compile", "request", "start", the name
/// of a check, "machine", "passed", or "flag:TEXT" (right, with such a flag).
struct Entry {
    std::string name;
    std::size_t task = 0;
    std::filesystem::path path;
    std::vector<std::string> wanted;
    bool honest = false;
    bool module = false;
    bool full = false; ///< always in full strength: nothing else stops it
    double weight = 1; ///< how often it is drawn, against others of its side
};

struct Manifest {
    std::vector<Task> tasks;
    std::vector<Entry> entries;
    std::vector<std::string> accusing; ///< texts of flags that an honest candidate may not carry
};

/// {"tasks": [{"file", "sets", "rules", "timing"}], "accusing": [...],
///  "entries": [{"name", "task", "path", "wanted", "honest", "module", "full", "weight"}]}
/// Errors: request (says which entry and what is missing; without honest or without hostile ones).
Result<Manifest> manifestFromJson(const Json &json);

/// One candidate's turn.
struct Turn {
    std::size_t entry = 0;
    std::uint64_t variation = 0; ///< above 0: number of a comment that makes its texts new
    bool full = false;           ///< strength
};

/// `count` turns, half of them honest: of each side every entry once as far as that goes, the
/// others by weight, in an order that `seed` decides alone. The first candidate of each kind of
/// each task is moved to the front; `warmUp` of draw() is their number or a tenth, whichever is
/// more.
struct Draw {
    std::vector<Turn> turns;
    std::size_t warmUp = 0;
};
/// `vary`: share of the turns with new texts.
Draw draw(const Manifest &manifest, std::size_t count, std::uint64_t seed, double vary);

/// Adds a comment with that number to every kernel of the candidate: the cache does not know it.
void varyTexts(judge::Candidate &candidate, std::uint64_t variation);

/// Where a candidate was stopped; "passed" when it was not.
std::string placeOf(const Result<judge::Verdict> &verdict);

/// Whether it may be stopped there; else what is wrong, in one line.
std::optional<std::string> complaint(const Manifest &manifest, const Entry &entry,
                                     const Result<judge::Verdict> &verdict);

} // namespace cuda_agent::endurance
