// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/bench/suite.h"
#include "core/device/device.h"
#include "core/learn/corpus/judged.h"

#include <functional>
#include <stop_token>

namespace cuda_agent::learn {

/// A device that candidates are planned for; it need not be there.
struct Target {
    device::Info info;
    device::Ceilings ceilings;
};
/// One NVIDIA H200, with the copy rate measured on one; half of the documents that are not judged
/// tell of an H100, which has as many multiprocessors of the same kind.
Target h200Target();
/// A CPU of two threads, as small test machines are; documents that are not judged tell of many
/// numbers of threads. Its copy rate only scales expected times.
Target cpuTarget();

struct CorpusOptions {
    std::filesystem::path set;                   ///< as bench::readTaskSet() takes it
    std::filesystem::path out;                   ///< a folder; made
    std::vector<std::string> splits = {"train"}; ///< empty: all
    std::size_t tasks = 0;                       ///< the first of those chosen; 0: all
    double seconds = 0; ///< no task is begun after so many: the corpus is of the others; 0: no end
    std::size_t perTask = 4; ///< documents, each of another candidate
    /// Draws for each, of which the one expected to be fastest is taken; 0: what the planner would
    /// try first, and one draw for each further document of a task.
    std::size_t bestOf = 1;
    std::uint64_t seed = 1;
    Target target = h200Target();
    task::Numerics numerics = task::Numerics::standard;
    double brokenShare = 0.15; ///< of documents that a mutation is made in
    /// Of tasks, without `judge`: parameters have drawn names (withDrawnNames()).
    double renamedShare = 0.5;
    /// Of tasks, without `judge`: `batch_size` is cut to a part of it, a sixteenth at least, as of
    /// tasks that have to fit a machine (bench::Selection::mostBytes). Who reads round sizes alone
    /// takes any number of elements for one of whole vectors. Which and how far the task's name
    /// alone decides, so that its description serves other seeds.
    double resizedShare = 0.5;
    std::size_t mostBytes = 12000; ///< of a document; longer candidates are drawn again
    /// Whether turns are played before the judge, on a device of the target's kind that is there;
    /// what the target says else comes from that device.
    bool judge = false;
    double improvedShare = 0.5;           ///< see JudgedOptions
    std::filesystem::path baselines = {}; ///< see judge::Options
    bool timing = true;                   ///< off: judged for being correct alone
    /// Folder of a policy's sessions; empty: none. With `judge` its wrong first turns become
    /// documents, too, up to `perTask` of each task, that go on with a candidate of the planner's.
    /// Without it the documents are of these turns alone, of the tasks as those sessions had them
    /// and with what was answered there: one that is faster than torch.compile, or right and not
    /// timed, goes on to the end; another right one with what the planner would try first; a wrong
    /// one with the shortest of `perTask` candidates. Nobody judged these, and the policy is not to
    /// learn what it wrote before them.
    std::filesystem::path tries = {};
    /// Tasks at a time; 0: as many as this machine has threads, and with `judge` one on a CPU and
    /// three on each GPU.
    unsigned jobs = 0;
};

struct CorpusProgress {
    std::size_t done = 0, tasks = 0; ///< tasks
    std::size_t documents = 0;
    std::size_t verdicts = 0; ///< given now
};

/// Median, nine-tenths quantile and maximum.
struct Spread {
    std::size_t median = 0, most90 = 0, maximum = 0;
};

struct CorpusSummary {
    std::size_t tasks = 0;   ///< chosen
    std::size_t planned = 0; ///< that the planner has candidates for
    std::size_t written = 0; ///< that have a document
    std::size_t documents = 0;
    std::size_t bytes = 0;                        ///< of all their texts
    std::map<std::string, std::size_t> mutations; ///< documents by kind of mistake
    std::map<std::string, std::size_t> reasons;   ///< tasks without a document, by why
    std::map<std::string, Spread> sizes; ///< bytes of "prompt", "thought", "kernels", "plan",
                                         ///< "document"
    std::size_t described = 0;           ///< tasks that no file knew yet
    std::optional<JudgedCounts> judged;  ///< where it was
    double seconds = 0;
};
Json toJson(const CorpusSummary &summary);

/// Makes `corpus.jsonl.gz`, a document a line in the order of the set, and `summary.json`; beside
/// them `descriptions-<kind>.gz` keeps what the tasks are, for the next time. For each task as many
/// different candidates as asked for are drawn evenly from the planner's space (random(), not its
/// search), or the fastest of several by its expectation; each is written as it is, or with a
/// mistake made on purpose, which its record names. The corpus depends on set, splits, seed, target
/// and the numbers above alone, not on `jobs`; with `seconds` also on how fast the machine is.
///
/// Task code runs in sandboxes, on fake tensors; kernels are not run. Every plan without a mistake
/// is parsed and resolved for its task before it is taken.
///
/// With `judge` tasks and candidates run, in sandboxes as always, and a document is what
/// playDrafts() makes of a candidate, or of a policy's own wrong try. The same candidate comes
/// again with other mistakes. What it depends on besides are the verdicts, which
/// `verdicts-<kind>.gz` keeps: from a file that knows them all the corpus is the same again.
///
/// Blocks; `progress` is called by one thread at a time, with `judge` after each verdict, too.
/// Errors: request (no set, no task of those splits), machine (with `judge` also: no document for
/// the machine's failures), stopped: descriptions and verdicts made so far are kept then, a corpus
/// that was there is left as it is.
Result<CorpusSummary> makeCorpus(const CorpusOptions &options,
                                 const std::function<void(const CorpusProgress &)> &progress,
                                 std::stop_token stop);

/// Calls `take` with each document of a corpus, one in memory at a time. Errors: as readCorpus(),
/// and those of `take`, which end the reading.
Result<void> eachDocument(const std::filesystem::path &file,
                          const std::function<Result<void>(Document)> &take);
/// All documents of a corpus, parsed on all cores. Errors: request (no such file, a line that is no
/// document).
Result<std::vector<Document>> readCorpus(const std::filesystem::path &file);

} // namespace cuda_agent::learn
