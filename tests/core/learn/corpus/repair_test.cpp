// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/corpus/repair.h"

#include "broken_candidate.h"
#include "core/learn/corpus/document.h"

#include <gtest/gtest.h>

namespace cuda_agent::learn {
namespace {

using Files = std::map<std::string, std::string>;

Files filesOf(const CandidateText &text) {
    return {{kernelFile, text.kernels}, {"plan.json", text.plan.dump()}};
}

std::size_t countOf(const std::string &text, const std::string &piece) {
    std::size_t count = 0;
    for (auto at = text.find(piece); at != text.npos; at = text.find(piece, at + 1))
        ++count;
    return count;
}

/// What the tools make of the calls; an Edit is done where its old text occurs once.
Files after(Files files, const std::vector<session::ToolCall> &calls) {
    for (const auto &call : calls) {
        auto &file = files[call.arguments.at("file_path").get<std::string>()];
        if (call.tool == "Write") {
            file = call.arguments.at("content").get<std::string>();
            continue;
        }
        EXPECT_EQ(call.tool, "Edit");
        const auto old = call.arguments.at("old_string").get<std::string>();
        EXPECT_EQ(countOf(file, old), 1u) << old;
        const auto at = file.find(old);
        if (at != file.npos)
            file.replace(at, old.size(), call.arguments.at("new_string").get<std::string>());
    }
    return files;
}

TEST(CorpusRepair, ChangesMendEveryMutation) {
    std::mt19937_64 random(5);
    std::map<std::string, int> tools;
    for (int i = 0; i < 400; ++i) {
        const auto sound = candidate();
        auto broken = sound;
        const auto mutation = mutate(broken, random);
        ASSERT_TRUE(mutation);
        SCOPED_TRACE(mutation->kind + ": " + mutation->became);
        const auto calls = changesOf(broken, sound);
        EXPECT_EQ(calls.size(), 1u);
        ++tools[calls.at(0).tool];
        EXPECT_EQ(after(filesOf(broken), calls), filesOf(sound));
        // A turn with them can be written and is read as the same.
        policy::Step step{thoughtOfRepair(*mutation, true), calls, false, ""};
        const auto turn = chat::segmentOf(step);
        ASSERT_TRUE(turn) << turn.error().message;
        const auto read = chat::stepOf(turn->text, 2);
        ASSERT_TRUE(read) << read.error().message;
        EXPECT_EQ(read->calls.at(0).arguments, calls[0].arguments);
    }
    EXPECT_GT(tools["Edit"], 350);
}

TEST(CorpusRepair, MuchThatDiffersIsWrittenAnew) {
    const auto from = candidate();
    auto to = from;
    to.kernels = "extern \"C\" __global__ void other(float *y) {\n    y[threadIdx.x] = 1.0f;\n}\n";
    const auto calls = changesOf(from, to);
    ASSERT_EQ(calls.size(), 1u);
    EXPECT_EQ(calls[0].tool, "Write");
    EXPECT_EQ(after(filesOf(from), calls), filesOf(to));
    EXPECT_TRUE(changesOf(from, from).empty());
}

TEST(CorpusRepair, ThoughtsSayWhatIsWrong) {
    EXPECT_EQ(thoughtOfRepair({"dropped barrier", "__syncthreads();", ""}, true),
              "It is wrong. A barrier is missing. There must be: __syncthreads();");
    EXPECT_EQ(thoughtOfRepair({"syntax slip", "return;", "return"}, false),
              "It does not compile. The text has a slip. In place of return there must be: "
              "return;");
    EXPECT_LT(thoughtOfRepair({"wrong operator", std::string(9000, 'x'), "y"}, true).size(), 400u);
}

} // namespace
} // namespace cuda_agent::learn
