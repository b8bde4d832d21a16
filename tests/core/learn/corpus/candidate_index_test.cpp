// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/corpus/candidate_index.h"

#include "core/learn/corpus/corpus.h"
#include "tests/source_dir.h"

#include <gtest/gtest.h>

namespace cuda_agent::learn {
namespace {

constexpr const char *kernel = "extern \"C\" __global__ void a(float *x) {\n    x[0] = 1;\n}\n";

chat::Segment turn(std::vector<session::ToolCall> calls) {
    policy::Step step;
    step.thought = "a thought";
    step.calls = std::move(calls);
    return chat::segmentOf(step).value();
}

Document document() {
    Document document;
    document.split = "train";
    document.segments = {
        {chat::Author::context, "<|im_start|>assistant\n"},
        turn({{"", "Write", {{"file_path", "kernels/fused.cu"}, {"content", kernel}}},
              {"", "Write", {{"file_path", "plan.json"}, {"content", "{}"}}},
              {"", "Verify", Json::object()}}),
        {chat::Author::context, "\n<|im_start|>user\nwrong<|im_end|>\n<|im_start|>assistant\n"},
        turn({{"",
               "Edit",
               {{"file_path", "kernels/fused.cu"},
                {"old_string", "x[0] = 1"},
                {"new_string", "x[0] = 2"}}},
              {"", "Verify", Json::object()}})};
    return document;
}

TEST(SourcesKey, IsOfKernelSourcesButForBlanksAtEndsOfLines) {
    const auto key = sourcesKey({{"kernels/a.cu", kernel}, {"plan.json", "{}"}});
    const auto of = [](const std::string &text) {
        return sourcesKey({{"kernels/b.cu", text}, {"plan.json", R"({"version": 1})"}});
    };
    EXPECT_EQ(of(kernel), key) << "neither the file's name nor the plan counts";
    EXPECT_EQ(of("extern \"C\" __global__ void a(float *x) { \r\n    x[0] = 1;\t\n}\n\n  \n"), key);
    EXPECT_NE(of("extern \"C\" __global__ void a(float *x) {\n   x[0] = 1;\n}\n"), key)
        << "blanks at the beginning count";
    EXPECT_NE(of("extern \"C\" __global__ void a(float *x) {\n\n    x[0] = 1;\n}\n"), key);
    EXPECT_NE(sourcesKey({{"kernels/a.cu", kernel}, {"kernels/b.cu", kernel}}), key);
    EXPECT_EQ(sourcesKey({}), "");
    EXPECT_EQ(sourcesKey({{"plan.json", R"({"a": 1, "b": 2})"}}),
              sourcesKey({{"plan.json", "{\"b\":2,\n\"a\":1}"}}))
        << "a plan of library steps alone is compared as JSON";
    EXPECT_NE(sourcesKey({{"plan.json", R"({"a": 1})"}}),
              sourcesKey({{"plan.json", R"({"a": 2})"}}));
}

TEST(CandidateIndex, KnowsWhatEachTurnLeaves) {
    CandidateIndex index;
    index.add(document());
    EXPECT_EQ(index.size(), 2u);
    EXPECT_TRUE(index.has({{"kernels/k.cu", kernel}}));
    std::string mended = kernel;
    mended.replace(mended.find("= 1"), 3, "= 2");
    EXPECT_TRUE(index.has({{"kernels/k.cu", mended}}));
    mended.replace(mended.find("= 2"), 3, "= 3");
    EXPECT_FALSE(index.has({{"kernels/k.cu", mended}}));
    EXPECT_FALSE(index.has({}));
    auto other = document();
    other.split = "held_out";
    CandidateIndex empty;
    empty.add(other);
    EXPECT_EQ(empty.size(), 0u) << "nobody learns from it";
}

TEST(CandidateIndex, ReadsACorpus) {
    const auto file = sourceDir() / "training/data/tasks-tiny/corpus.jsonl.gz";
    const auto index = CandidateIndex::read(file);
    ASSERT_TRUE(index) << index.error().message;
    const auto documents = readCorpus(file).value();
    std::size_t trained = 0, repaired = 0;
    for (const auto &document : documents) {
        CandidateFiles files;
        const auto step = chat::stepOf(document.segments.at(1).text, 1);
        ASSERT_TRUE(step);
        for (const auto &call : step->calls)
            if (call.tool == "Write")
                files[call.arguments["file_path"]] = call.arguments["content"];
        if (document.split == "train") {
            EXPECT_TRUE(index->has(files));
            ++trained;
            repaired += document.verdicts.size() > 1;
        }
        files["kernels/fused.cu"] += " // mine";
        EXPECT_FALSE(index->has(files));
    }
    EXPECT_GT(trained, 100u);
    EXPECT_GT(repaired, 0u);
    EXPECT_GT(index->size(), 100u);
    EXPECT_FALSE(CandidateIndex::read("/nowhere/corpus.jsonl.gz"));
}

} // namespace
} // namespace cuda_agent::learn
