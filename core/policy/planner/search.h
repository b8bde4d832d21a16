// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/policy/planner/group_text.h"
#include "core/policy/planner/schedule_space.h"
#include "core/task/task.h"

#include <random>

namespace cuda_agent::policy {

/// One way to cut the task into kernels, with the schedules of each.
struct Variant {
    Fused fused;
    std::vector<ScheduledGroup> groups;
    std::vector<std::vector<Option>> options; ///< by group
    double librarySeconds = 0;
    bool exact = false; ///< no TF32: tried where TF32 gave a wrong answer
    /// The library steps as text, and the products that kernels compute themselves: equal where
    /// variants share them.
    std::string steps;
    int products = 0; ///< that kernels compute themselves
};

/// What one tried candidate turned out to be.
struct Trial {
    std::string name;
    bool failed = false; ///< did not compile, was wrong, or could not be timed
    double seconds = 0;
    bool wrong = false; ///< it failed by its answer
};

/// All candidates of one task on one device. A candidate is named by its variant and the schedules
/// of its groups ("0|row-t256-v4-u2-p0"), which is all that is needed to write it again.
class SearchSpace {
  public:
    /// Errors: failed, naming the operators that cannot be done.
    static Result<SearchSpace> make(const task::Description &task, const device::Info &device,
                                    const device::Ceilings &ceilings, task::Numerics numerics);

    /// What a search of its own among several, or one that remembers, does otherwise.
    struct Order {
        std::vector<std::string> preferred; ///< tried first; names that are none here are left out
        int part = 0;                       ///< of `parts` disjoint ones: which candidates it tries
        int parts = 1; ///< more than there are single changes count as that many
    };
    void setOrder(const Order &order);

    /// The next candidate to try, given what is known; nothing when all promising ones are known.
    /// Goes through the schedules of the heaviest group first, the others at their best so far.
    std::optional<std::string> next(const std::vector<Trial> &trials) const;
    /// First choices, with one group's schedule or the variant changed.
    std::vector<std::string> allSingleChanges() const;

    /// One of all candidates, good or poor: the variant and the schedule of each group are drawn
    /// evenly. The same from the same state of the generator, on every machine.
    std::string random(std::mt19937_64 &generator) const;
    /// What one kernel, or several that belong together, of a candidate does and how.
    struct Part {
        std::string name;      ///< "reduce0", as the kernels' names begin
        std::string work;      ///< as describeGroup() says it
        std::string loops;     ///< as describeLoops() says them
        std::string accesses;  ///< as describeAccesses() says them
        std::string positions; ///< as describePositions() says them
        std::string perRow;    ///< as describeRowValues() says it
        SizeTexts sizes;       ///< see sizeTextsOf()
        std::string counts;    ///< as describeCounts() says them
        std::string schedule;  ///< "row-t256-v4-u2-p0"; see Schedule::textBesideHeld()
        std::string apart;     ///< as describeApart() says them
        std::string reason;    ///< "one read: the row stays in registers"
    };
    /// In the order in which they run; empty for a name that is none here.
    std::vector<Part> parts(const std::string &name) const;

    Result<CandidateFiles> write(const std::string &name,
                                 const std::vector<std::string> &notes) const;
    double expectedSeconds(const std::string &name) const;
    double expectedBytes(const std::string &name) const;
    /// How far from the first choice: groups list their schedules with the most promising one in
    /// front, also where they expect the same of all.
    std::size_t laterChoices(const std::string &name) const;
    /// "one read: the row stays in registers", of the heaviest group.
    std::string reason(const std::string &name) const;
    int kernels(const std::string &name) const;
    /// Expected time of the best candidate that has not been tried.
    std::optional<double> bestUntried(const std::vector<Trial> &trials) const;
    std::string describe() const;
    /// Algebra that the leading variants use, in words.
    const std::vector<std::string> &notes() const { return notes_; }

  private:
    /// Whether the candidate is in this search's part.
    bool mine(const std::string &name) const;
    struct Choice {
        std::size_t variant = 0;
        std::vector<std::size_t> options; ///< by group
    };
    std::string nameOf(const Choice &choice) const;
    std::optional<Choice> parse(const std::string &name) const;
    std::vector<std::size_t> byWeight(const Variant &variant) const;
    double seconds(const Choice &choice) const;
    /// Expected time of one group's kernels, without launching them.
    double groupSeconds(const Variant &variant, std::size_t group, const Option &option) const;
    void add(Fused fused, const device::Info &device, bool exact, std::set<std::string> &seen);

    std::vector<std::shared_ptr<const Variant>> variants_;
    std::vector<std::string> notes_;
    double bytesPerSecond_ = 1;
    bool cpu_ = false;
    std::vector<std::string> preferred_;
    std::map<std::string, std::size_t> places_; ///< of candidates in the order that parts share out
    std::size_t part_ = 0;
    std::size_t parts_ = 1;
};

} // namespace cuda_agent::policy
