// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/bench/task_set.h"
#include "core/judge/idle_runners.h"
#include "core/learn/corpus/corpus.h"
#include "core/learn/corpus/descriptions.h"
#include "core/learn/corpus/own_tries.h"

#include <atomic>

namespace cuda_agent::learn {

/// What became of one task.
struct TaskDocuments {
    std::vector<Document> documents;
    JudgedCounts judged;
    std::string machineProblem;
    bool planned = false;
    std::string reason; ///< why there is no document
};

/// Makes the documents of one task after the other. Any thread may call make().
class DocumentMaker {
  public:
    /// What it works with, besides the options; all borrowed.
    struct Means {
        Descriptions &descriptions;
        Observations &observations;
        const bench::TaskSet &set;
        /// By task; with a judge wrong ones, else verified ones, and then of no other tasks.
        const std::map<std::string, std::vector<OwnTry>> &tries;
        int gpus = 0;                 ///< to judge on; 0: the CPU
        std::function<void()> judged; ///< see TaskJudge; any thread calls it
    };
    DocumentMaker(const CorpusOptions &options, Means means);

    /// Draws candidates and writes them as documents, or plays them before a judge. Blocks.
    /// Errors: machine, stopped.
    Result<TaskDocuments> make(const bench::SuiteTask &task, const std::stop_token &stop) const;

  private:
    /// All of it but the task.
    policy::Context contextOf() const;
    /// What the policy tried at the task, was answered, and should go on with.
    Result<TaskDocuments> goOn(const bench::SuiteTask &task, const std::stop_token &stop) const;
    /// The planner's candidate of that name; nothing where its plan cannot run.
    Result<std::optional<Draft>> draftOf(TaskDocuments &made, const policy::Context &context,
                                         const policy::SearchSpace &space,
                                         const chat::Segment &prompt,
                                         const std::string &name) const;
    /// What the planner would try first.
    Result<std::optional<Draft>> firstChoice(TaskDocuments &made, const policy::Context &context,
                                             const policy::SearchSpace &space,
                                             const chat::Segment &prompt) const;
    /// Of `perTask` that are drawn the one in the fewest words: where one has just failed.
    Result<std::optional<Draft>> shortest(TaskDocuments &made, const policy::Context &context,
                                          const policy::SearchSpace &space,
                                          const chat::Segment &prompt, std::mt19937_64 &generator,
                                          const std::stop_token &stop) const;
    Result<std::vector<Draft>> draw(TaskDocuments &made, const policy::Context &context,
                                    const policy::SearchSpace &space, const chat::Segment &prompt,
                                    std::mt19937_64 &generator, const std::stop_token &stop) const;
    /// Adds the policy's own tries at the task, each with one of the sound drafts in its place.
    void addOwn(std::vector<Draft> &drafts, const std::string &task,
                std::mt19937_64 &generator) const;
    Result<void> judge(TaskDocuments &made, const std::vector<Draft> &drafts, const Document &head,
                       const bench::SuiteTask &task, std::mt19937_64 &generator,
                       const std::stop_token &stop) const;

    const CorpusOptions &options_;
    Means means_;
    mutable std::atomic<unsigned> next_{0};                    ///< GPU
    std::vector<std::shared_ptr<judge::IdleRunners>> runners_; ///< of each GPU
    std::vector<std::shared_ptr<reference::Stock>> stocks_;    ///< of each, or of the CPU
};

} // namespace cuda_agent::learn
