// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/judge/candidate.h"
#include "core/judge/idle_runners.h"
#include "core/sanitize/report.h"
#include "core/timing/timing.h"
#include "core/verify/verify.h"

#include <functional>
#include <memory>

namespace cuda_agent::judge {

/// Seconds of the parts of a piece of work, in the order in which they began.
using Phases = std::vector<std::pair<std::string, double>>;

struct Options {
    task::Numerics numerics = task::Numerics::standard;
    bool maxAutotune = false;
    modules::Rules rules = modules::Rules::published; ///< for module candidates
    /// Measure the baselines once more after the candidate, in full strength (baseline, candidate,
    /// baseline). Off, the baselines of prepare() stand.
    bool interleaveBaselines = true;
    /// The most that is spent. With training, what is asked for in full is judged in training
    /// strength, and prepare() seals five cases and times the baselines no longer than candidates:
    /// for whoever judges many tasks once.
    verify::Strength strongest = verify::Strength::full;
    /// Off: no baselines, and verdicts without times, whose reward is 1 when correct.
    bool timing = true;
    /// Samples of a candidate's time, exactly so many unless the machine was throttled; 0: as many
    /// as its strength asks for.
    int timedCalls = 0;
    /// Folder of baselines that were measured before, on such a device and with this PyTorch: they
    /// are taken in place of new ones, and new ones are added. Empty: measure always.
    std::filesystem::path baselines = {};
    /// Memory of the device that the sealed cases may take; those that do not fit are left out, but
    /// for the first. 0: most of what is free, for a judge that is alone.
    std::uint64_t caseBytes = 0;
    /// Called once by prepare(), before the task's tensors take memory of the device: blocks while
    /// others leave no room for them. Its errors are prepare()'s. Empty: nobody is waited for.
    std::function<Result<void>(std::stop_token)> waitForRoom = {};
    /// Processes for plans in training strength that judges of the same GPU share. A judge with
    /// these also keeps one whose candidate computed something wrong and did nothing else amiss,
    /// and believes what it found in one that had served before, but for a want of memory: for many
    /// verdicts a second of which most are wrong. Empty: it keeps one of its own after a correct
    /// candidate, and what fails in that is judged again in a new one.
    std::shared_ptr<IdleRunners> runners = {};
    /// Processes of PyTorch's that tasks have one after the other, on this judge's device and with
    /// its threads: for tasks that belong together, see reference::Stock. Empty: each has its own.
    std::shared_ptr<reference::Stock> stock = {};
    /// Whether prepare() opens the GPU for a plan's process while the cases are drawn: for whoever
    /// will judge one at once. Not with `runners`.
    bool openRunner = false;
    /// Of the processor, for the task's workers on a GPU; 0: all. See threadsOfEach().
    unsigned threads = 0;
};

/// For each of so many judges that are prepared at the same time; 0 where one is alone. What
/// compiles and computes in all threads beside others that do takes longer than in its share.
unsigned threadsOfEach(std::size_t judges);

/// Options::caseBytes for each of so many judges on a device with that memory: they share half of
/// it, as the rest is for references, candidates and their copies. At least one judge.
std::uint64_t caseBytesOfEach(std::uint64_t memoryBytes, std::size_t judges);

/// The baselines that a numeric mode compares with.
struct BaselinePair {
    reference::Baseline eager;
    reference::Baseline compile;
};
BaselinePair declaredBaselines(task::Numerics numerics);

/// The least time that this machine's measured ceilings allow for the task: what one launch takes,
/// and counted bytes at the copy bandwidth or counted operations at the matrix rate, whichever is
/// longer. Products of 16-bit types count at the rate measured for them, else at twice that of
/// TF32, as tensor cores have it.
struct Limit {
    double seconds = 0;
    std::string by;           ///< "memory" | "compute"
    double launchSeconds = 0; ///< of `seconds`

    double workSeconds() const { return seconds - launchSeconds; }
};
Limit limitOf(const task::Description &task, const device::Ceilings &ceilings,
              task::Numerics numerics);

/// What was found out about one candidate; toJson gives the verdict object of the contract.
struct Verdict {
    std::string kind = "plan"; ///< "plan" | "module"
    std::string rules = "published";
    bool compiled = false;
    bool correct = false;
    int reward = -1;
    device::Kind device = device::Kind::cpu;
    task::Numerics numerics = task::Numerics::standard;
    std::vector<toolchain::Diagnostic> diagnostics;
    std::string compilerOutput;       ///< of a source that does not compile
    std::string problem;              ///< one line why it is not correct, or empty
    std::optional<plan::Fault> fault; ///< it failed instead of answering something wrong
    verify::Report verification;
    std::optional<timing::CandidateTimes> times;
    timing::Baselines baselines;
    std::string reference;          ///< "torch 2.11.0+cu130, Python 3.12.3", that judged it
    std::int64_t baselinesTime = 0; ///< seconds since 1970, of stored baselines; 0: measured now
    Limit limit;
    double fractionOfLimit = 0; ///< limit.seconds / candidate time; 0 before timing
    std::vector<std::string> flags;
    std::vector<std::string> unenforced;
    std::vector<toolchain::EntryInfo> kernels;
    std::optional<modules::Audit> audit;       ///< of a correct module: what ran during one call
    std::optional<sanitize::Report> sanitizer; ///< of a checked run, where one was asked for
    verify::Strength strength = verify::Strength::full;
    double compileSeconds = 0;
    double seconds = 0; ///< wall time of this verdict
    /// Where they went, in order: "compile", "start", "verification", "origin", "hidden shapes",
    /// "waiting" (for the device), "timing", "fresh inputs", "knock-out", "end", "baselines".
    Phases phases;
};
Json toJson(const Verdict &verdict);

/// Two candidates of one task, verified each and timed in turns.
struct Comparison {
    Verdict a;
    Verdict b;
    std::optional<timing::AbResult> times; ///< when both are correct
};
Json toJson(const Comparison &comparison);

/// Everything about one task that candidates are judged against: description, sealed cases,
/// baselines, ceilings. Prepared once, then used for any number of candidates.
/// Not thread-safe.
class Judge {
  public:
    /// Progress in words for a terminal ("drawing inputs", "torch.compile").
    using Progress = std::function<void(const std::string &)>;

    /// Opens workers, describes the task, seals cases, measures baselines.
    /// Errors: request (the task is unusable), machine, stopped.
    static Result<std::unique_ptr<Judge>> prepare(const task::Spec &spec,
                                                  std::unique_ptr<device::Device> device,
                                                  const Options &options, Progress progress,
                                                  std::stop_token stop);
    ~Judge();
    /// Another judge of the same task for another thread: it shares the sealed cases and the
    /// baselines, which it does not measure again, and has a compiler and processes of its own.
    /// `device`: the same one, opened once more. Where interleaveBaselines is off here, too, it may
    /// be asked for while this one judges. Errors: machine.
    Result<std::unique_ptr<Judge>> twin(std::unique_ptr<device::Device> device) const;

    const task::Description &description() const;
    const timing::Baselines &baselines() const;
    const device::Info &deviceInfo() const;
    const device::Ceilings &ceilings() const;
    const Options &options() const;
    /// For work beside a verdict; the judge owns both.
    device::Device &device();
    const task::Spec &spec() const;
    const verify::Pool &pool() const;
    /// Seconds of prepare(), in order: "start" (of workers), "oracle", "torch.compile" (what was
    /// left of it then), "waiting" (for the device), "baselines". Empty for a twin.
    const Phases &preparation() const;
    /// What the sealed cases leave out, and why.
    const std::vector<std::string> &notes() const;

    /// Compiles only. Errors: as judge().
    Result<CompileOutcome> compile(const Candidate &candidate, std::stop_token stop);
    /// Compiles, verifies, times. A wrong candidate is a verdict, not an error. A module's times
    /// are tamper-evident, not tamper-proof: it shares a process with its clock, which the engine's
    /// own checks and overrules. Errors: machine, stopped, request (plan.json unusable, a module of
    /// a form that this device or these rules do not take).
    Result<Verdict> judge(const Candidate &candidate, verify::Strength strength,
                          std::stop_token stop);

    /// Ends the processes of its own that wait for the next candidate, with the memory that they
    /// hold. The next verdict starts new ones.
    void rest();

    /// What `torch.compile` generates for the task, as text; asked for once, then kept.
    /// Errors: request (it cannot run the task), machine, stopped.
    Result<std::string> compiledCode(std::stop_token stop);

    /// Judges both in training strength, then times them in turns. Errors: as judge().
    Result<Comparison> compare(const Candidate &a, const Candidate &b, std::stop_token stop);

  private:
    struct State;
    explicit Judge(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

} // namespace cuda_agent::judge
