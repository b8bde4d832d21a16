// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/temporary_folder.h"
#include "core/judge/judge.h"
#include "core/learn/corpus/corpus.h"
#include "small_set.h"

#include <gtest/gtest.h>

namespace cuda_agent::learn {
namespace {

namespace fs = std::filesystem;

// Documents of the corpus for the CPU, judged as a policy's turns would be: what is not marked as
// broken is correct.
TEST(CorpusJudged, WhatIsNotMarkedIsCorrect) {
    const auto folder = TemporaryFolder::make("judged");
    ASSERT_TRUE(folder);
    CorpusOptions options;
    options.set = writeSmallSet(folder->path());
    options.out = folder->path() / "out";
    options.splits = {};
    options.perTask = 3;
    options.target = cpuTarget();
    const auto summary = makeCorpus(options, {}, {});
    ASSERT_TRUE(summary) << summary.error().message;
    const auto documents = readCorpus(options.out / "corpus.jsonl.gz");
    ASSERT_TRUE(documents) << documents.error().message;
    std::size_t judged = 0;
    for (const auto &task : smallTasks()) {
        const auto file = folder->path() / (std::string(task.name) + ".py");
        ASSERT_TRUE(writeFileAtomically(file, smallCode(task)));
        const auto spec = task::openSpec(file, {});
        ASSERT_TRUE(spec) << spec.error().message;
        judge::Options untimed;
        untimed.timing = false;
        auto judge = judge::Judge::prepare(*spec, device::openCpu().value(), untimed, {}, {});
        ASSERT_TRUE(judge) << judge.error().message;
        for (const auto &document : *documents) {
            if (document.task != task.name || document.mutation)
                continue;
            SCOPED_TRACE(document.task + " " + document.candidate);
            const auto place = folder->path() / "candidate";
            fs::remove_all(place);
            fs::create_directories(place / "kernels");
            const auto step = chat::stepOf(document.segments.at(1).text, 1);
            ASSERT_TRUE(step) << step.error().message;
            for (const auto &call : step->calls) {
                if (call.tool != "Write")
                    continue;
                ASSERT_TRUE(
                    writeFileAtomically(place / call.arguments["file_path"].get<std::string>(),
                                        call.arguments["content"].get<std::string>()));
            }
            const auto candidate = plan::readCandidate(place);
            ASSERT_TRUE(candidate) << candidate.error().message;
            const auto verdict =
                (*judge)->judge(judge::Candidate(*candidate), verify::Strength::training, {});
            ASSERT_TRUE(verdict) << verdict.error().message;
            EXPECT_TRUE(verdict->correct) << verdict->problem << verdict->compilerOutput;
            ++judged;
        }
    }
    EXPECT_GE(judged, 4u);
}

} // namespace
} // namespace cuda_agent::learn
