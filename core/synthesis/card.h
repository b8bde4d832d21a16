// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/synthesis/tasks.h"

namespace cuda_agent::synthesis {

/// What was run once more, or looked at again, on the finished set.
struct Audit {
    std::size_t textDuplicates = 0;   ///< tasks whose text is another's
    std::size_t duplicates = 0;       ///< whose normalised text or operator graph is another's
    std::size_t benchmark = 0;        ///< too near to the benchmark
    std::size_t run = 0;              ///< run once more, in fresh processes
    std::size_t disagreements = 0;    ///< of those, whose `ops` are not what ran
    std::size_t failures = 0;         ///< of those, that did not pass again
    std::size_t byFurtherDraws = 0;   ///< of those, that passed by a second or third draw of inputs
    std::size_t drifted = 0;          ///< of those, only their time lies outside the range now
    std::vector<std::string> details; ///< of failures and disagreements
};
Json toJson(const Audit &audit);
/// Errors: request.
Result<Audit> auditFromJson(const Json &json);

/// The data card: counts by source, operators, level, split, type, time; rejections by reason; the
/// audit beside the published set's defects.
/// `proposed` and `rejected`: of all candidates. `versions`: of everything that decides.
Json cardOf(const Recipe &recipe, const TaskSet &set, std::size_t proposed,
            const std::map<std::string, std::size_t> &rejected, const Json &crawl,
            const Audit &audit, const Json &versions);
std::string cardAsMarkdown(const Json &card);

} // namespace cuda_agent::synthesis
