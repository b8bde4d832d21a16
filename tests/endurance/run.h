// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/endurance/leak.h"
#include "tests/endurance/manifest.h"
#include "tests/endurance/watch.h"

#include <atomic>
#include <chrono>
#include <span>

namespace cuda_agent::endurance {

struct Options {
    std::string device = "cpu";
    std::size_t count = 2000;
    std::uint64_t seed = 1;
    double vary = 0.25;             ///< share of the candidates with new texts
    std::size_t every = 10;         ///< candidates between two measurements
    std::size_t jobs = 1;           ///< candidates judged at a time
    bool share = false;             ///< judges share processes of candidates, as in training
    std::chrono::seconds limit{};   ///< ends early after that time; 0: none
    std::vector<std::string> leaks; ///< lost on purpose
};

/// Judges all candidates in this process, `jobs` at a time, and watches what stays behind: whoever
/// works pauses for a measurement. Prints a line each 50 candidates and a table at the end. Not
/// thread-safe, but for stop().
class Run {
  public:
    /// Prepares every task, those that many candidates have several times when several work.
    /// Errors: request, machine.
    static Result<std::unique_ptr<Run>> prepare(const Options &options, Manifest manifest);

    /// Errors: machine (it cannot be measured; a candidate's machine error is a finding instead).
    Result<void> judgeAll(const std::atomic<bool> &stop);
    bool clean() const { return findings_.empty(); }
    void printTable() const;
    /// Everything that is known, for the file of --json.
    Json toJson() const;

  private:
    using Clock = std::chrono::steady_clock;
    struct Seen { ///< of one entry
        std::map<std::string, std::size_t> places;
        double seconds = 0;
        double longest = 0;
    };
    struct Place { ///< a judge, which takes one candidate at a time
        std::size_t task = 0;
        std::unique_ptr<judge::Judge> judge = nullptr;
        bool taken = false;
        std::size_t judged = 0;
    };
    Run(const Options &options, Manifest manifest, Leak leak)
        : options_(options), manifest_(std::move(manifest)), leak_(std::move(leak)) {}
    std::vector<std::size_t> placesOfTasks() const;
    Result<std::unique_ptr<judge::Judge>> open(const Task &task) const;
    Result<void> openPlaces();
    Place *freePlace(std::size_t task);
    void judgeSome(std::span<const Turn> turns, const std::atomic<bool> &stop);
    Result<judge::Verdict> judgeOne(const Turn &turn, judge::Judge &judge) const;
    void record(const Turn &turn, const Result<judge::Verdict> &verdict, double seconds);
    bool over(const std::atomic<bool> &stop) const;
    Result<void> measure();
    Result<Census> settled();
    void add(std::vector<Finding> found);
    void printProgress() const;
    std::size_t findingsOf(const std::string &prefix) const;

    Options options_;
    Manifest manifest_;
    Leak leak_;
    std::shared_ptr<judge::IdleRunners> runners_; ///< null: each judge has its own
    std::vector<Place> places_;
    Draw draw_;
    Watch watch_;
    std::set<std::string> knownMemory_; ///< in /dev/shm before anything was judged
    Census last_;
    Clock::time_point start_;
    double seconds_ = 0;
    std::size_t done_ = 0;
    std::size_t honest_ = 0;
    std::vector<Seen> seen_; ///< by entry
    std::vector<Finding> findings_;
};

} // namespace cuda_agent::endurance
