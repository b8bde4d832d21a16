// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/synthesis/candidate.h"

#include <deque>
#include <filesystem>

namespace cuda_agent::synthesis {

// Candidates as tasks of a set that nothing has been run of. A corpus to pretrain on only needs to
// know what a task is, and more tasks teach a model more than more answers to the same ones.

/// What sets keep from training: fusions of their held-out tasks and operators of their outer ones
/// that no task of `train` or `validation` has.
struct KeptTraits {
    std::set<std::string> fusions, kinds; ///< as fusionsOf() and kindsOf() name them
    bool of(const Candidate &candidate) const;
};

/// Successive families, "binary > normalisation", each pair once. The operators of expressions
/// stand behind each other in any order: every pair of theirs.
std::set<std::string> fusionsOf(const std::string &source,
                                const std::vector<std::string> &families);
/// The kinds of operators; of a module of transformers its families.
std::set<std::string> kindsOf(const std::string &source, const std::vector<std::string> &kinds,
                              const std::vector<std::string> &families);

/// Errors: request (no such file, a line that is no task of a synthesised set, with its number).
Result<KeptTraits> keptFromTraining(const std::vector<std::filesystem::path> &sets);

/// A task a line, as set.jsonl.gz has them, all of the split "train": those that were not refused
/// and have nothing that is kept. Levels are by the number of operators alone.
std::string proposedLines(const std::deque<Candidate> &candidates, const KeptTraits &kept);

} // namespace cuda_agent::synthesis
