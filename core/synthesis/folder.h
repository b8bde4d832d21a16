// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/line_log.h"
#include "core/synthesis/card.h"

#include <array>
#include <deque>
#include <set>
#include <stop_token>

namespace cuda_agent::synthesis {

/// The folder of a synthesis (README.md tells its files). One writer at a time. Not thread-safe.
class Folder {
  public:
    /// Creates it or opens the one that is there, with all that was found out.
    /// Errors: request (another recipe's folder: says what differs; somebody else writes), machine.
    static Result<Folder> open(const std::filesystem::path &path, const Recipe &recipe);

    const std::filesystem::path &path() const { return path_; }
    bool hasCrawl() const { return !crawl_.is_null(); }
    /// A list of entries; null before setCrawl().
    const Json &crawl() const { return crawl_; }
    Result<void> setCrawl(const Json &found);

    /// In the order of their indices. References stay valid.
    const std::deque<Candidate> &candidates() const { return candidates_; }
    /// Screens those that come next, in order, and keeps them. Errors: machine.
    Result<void> add(std::vector<Candidate> candidates);
    /// Keeps an outcome. One by the machine's fault is written down and the stage is tried again,
    /// but for a candidate that never ends otherwise: "the machine fails". Errors: machine.
    Result<void> add(Checked checked);

    /// Those that a stage is still to be done for.
    std::vector<const Candidate *> todo(Stage stage) const;
    std::size_t done(Stage stage) const { return of(stage).size(); }
    /// Those that passed all stages, each operator graph once.
    std::size_t accepted() const { return graphs_.size() + withoutGraph_; }
    /// Those that were compiled and have failed no look behind that, each operator graph once.
    std::size_t promising() const { return hopefulGraphs_.size() + hopeful_; }
    const std::map<std::string, std::size_t> &rejected() const { return rejected_; }

    std::vector<Entry> entries() const;
    /// Measured figures {"reward", "turns"} by id of candidate, of `difficulty.json` where it is
    /// there.
    const std::map<std::string, Json> &difficulty() const { return difficulty_; }
    /// Keeps figures by id of candidate beside those of others. Errors: machine.
    Result<void> addDifficulty(const std::map<std::string, Json> &figures);

    /// The card of the set that is written, where it is one of these tasks and audited as the
    /// recipe wants it; levels and splits may be others. Else an empty object.
    Json cardFor(const TaskSet &set) const;

    /// Writes the set's files and its card; each is whole or not there. `parquet` makes set.parquet
    /// of set.jsonl.gz. Errors: machine.
    Result<void> write(const TaskSet &set, const Audit &audit, const Json &versions,
                       std::stop_token stop);

  private:
    Folder() = default;
    void take(Candidate candidate);
    void take(Checked checked);
    /// Whether a candidate counts as promising from now on.
    void hope(std::size_t index, bool more);
    bool isPromising(std::size_t index) const;

    std::filesystem::path path_;
    Recipe recipe_;
    Json crawl_;
    std::optional<Screen> screen_;
    std::deque<Candidate> candidates_;
    using Outcomes = std::map<std::size_t, Checked>; ///< by index
    const Outcomes &of(Stage stage) const { return outcomes_.at(static_cast<std::size_t>(stage)); }
    const Checked *find(Stage stage, std::size_t index) const;
    std::array<Outcomes, std::size(stages)> outcomes_;
    std::map<std::pair<Stage, std::size_t>, int> failures_; ///< by the machine's fault
    std::set<std::string> graphs_;
    std::size_t withoutGraph_ = 0;
    /// See promising(): how many compiled candidates have a graph; and of those without one.
    std::map<std::string, std::size_t> hopefulGraphs_;
    std::size_t hopeful_ = 0;
    std::map<std::string, std::size_t> rejected_;
    std::map<std::string, Json> difficulty_;
    std::optional<LineLog> candidateLog_, checkedLog_;
};

} // namespace cuda_agent::synthesis
