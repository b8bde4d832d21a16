// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/json.h"
#include "core/learn/grammar/token_masks.h"
#include "tests/source_dir.h"
#include "turns.h"

#include <gtest/gtest.h>

#include <random>

namespace cuda_agent::learn {
namespace {

/// That of the program's weights.
const Tokenizer &tokenizer() {
    static const auto loaded = Tokenizer::load(sourceDir() / "training/weights/tokenizer.json");
    EXPECT_TRUE(loaded) << loaded.error().message;
    return *loaded;
}

const TokenMasks &masks() {
    static const auto made =
        TokenMasks::ofTools(tokenizer(), static_cast<std::int64_t>(tokenizer().size()) + 3);
    EXPECT_TRUE(made) << made.error().message;
    return **made;
}

/// Turns of the documents that the weights have read.
std::vector<std::string> typicalTurns() {
    const auto text = readTextFile(sourceDir() / "training/weights/typical.txt");
    EXPECT_TRUE(text) << text.error().message;
    std::vector<std::string> turns;
    const std::string end(chat::imEnd);
    for (std::size_t begin = 0; begin < text->size();) {
        const auto at = text->find(end, begin);
        if (at == text->npos)
            break;
        turns.push_back(text->substr(begin, at + end.size() - begin));
        begin = at + end.size();
        while (begin < text->size() && (*text)[begin] == '\n')
            ++begin;
    }
    return turns;
}

std::string writeOf(const std::string &source) {
    return "<think>\n\n</think>\n\n" +
           callText("Write", parameterText("file_path", "kernels/fused.cu") +
                                 parameterText("content", source));
}

Writing behind(const std::string &text) {
    Writing writing;
    for (const auto token : tokenizer().encode(text))
        EXPECT_TRUE(masks().take(writing, token)) << tokenizer().bytes(token);
    return writing;
}

/// A turn up to where the source goes on behind `source`.
Writing within(const std::string &source) {
    const auto all = writeOf(source);
    return behind(all.substr(0, all.find(source) + source.size()));
}

bool mayCome(const Writing &writing, std::string_view token) {
    for (std::int32_t id = 0; id < static_cast<std::int32_t>(tokenizer().size()); ++id)
        if (tokenizer().bytes(id) == token)
            return (*masks().allowed(writing))[static_cast<std::size_t>(id)] != 0;
    ADD_FAILURE() << token << " is no token";
    return false;
}

TEST(NameMasks, RefuseNothingOfADocument) {
    const auto turns = typicalTurns();
    ASSERT_EQ(turns.size(), 48u);
    std::size_t narrowed = 0, tokens = 0;
    for (const auto &turn : turns) {
        Writing writing;
        std::string written;
        for (const auto token : tokenizer().encode(turn)) {
            const auto mask = masks().allowed(writing);
            ASSERT_TRUE((*mask)[static_cast<std::size_t>(token)])
                << "'" << tokenizer().bytes(token) << "' behind\n"
                << written.substr(written.size() - std::min<std::size_t>(written.size(), 300));
            written += tokenizer().bytes(token);
            narrowed += mask != masks().formed(writing.turn);
            ++tokens;
            ASSERT_TRUE(masks().take(writing, token));
        }
    }
    EXPECT_GT(narrowed, tokens / 3) << "most of a turn is a source";
}

TEST(NameMasks, OfferWhatIsDeclared) {
    const auto loop = within("__global__ void k(float *in0, int rows) {\n    float add =");
    EXPECT_TRUE(mayCome(loop, " in"));
    EXPECT_TRUE(mayCome(loop, " rows"));
    EXPECT_TRUE(mayCome(loop, "("));
    EXPECT_FALSE(mayCome(loop, " out")) << "nothing begins so";
    const auto name = within("__global__ void k(float *in0, int rows) {\n    float add = in");
    EXPECT_TRUE(mayCome(name, "0"));
    EXPECT_FALSE(mayCome(name, "1"));
    EXPECT_FALSE(mayCome(name, "[")) << "in is none";
    EXPECT_TRUE(mayCome(name, "t")) << "int is one";
    const auto whole = within("__global__ void k(float *in0, int rows) {\n    float add = in0");
    EXPECT_TRUE(mayCome(whole, "["));
    EXPECT_FALSE(mayCome(whole, "_x"));
    const auto own =
        within("__global__ void k(float *in0, int rows) {\n    int _to_copy = 1, a = _");
    EXPECT_TRUE(mayCome(own, "to"));
    EXPECT_TRUE(mayCome(own, "_")) << "__ldg";
    EXPECT_FALSE(mayCome(own, "x"));
    EXPECT_FALSE(mayCome(own, ";\n"));
    const auto copied =
        within("__global__ void k(float *in0, int rows) {\n    int _to_copy = 1, a = _to_copy");
    EXPECT_TRUE(mayCome(copied, ";\n"));
    EXPECT_FALSE(mayCome(copied, "_"));
    const auto fresh = within("__global__ void k(float *in0, int rows) {\n    float");
    EXPECT_TRUE(mayCome(fresh, " out")) << "any name may be declared";
}

TEST(NameMasks, ANameThatWasDeclaredMustBeLonger) {
    const auto again =
        within("__global__ void k(float *in0) {\n    float add = in0[0];\n    float add");
    EXPECT_TRUE(mayCome(again, "_"));
    EXPECT_FALSE(mayCome(again, " ="));
    EXPECT_FALSE(mayCome(again, ";\n"));
    const auto inner =
        within("__global__ void k(float *in0) {\n    float add = in0[0];\n    {\n    float add");
    EXPECT_TRUE(mayCome(inner, " =")) << "it hides the other";
}

TEST(NameMasks, APlansBuffersHaveNamesOfTheirOwn) {
    const auto withPlan = [](const std::string &plan) {
        const auto all = callText("Write", parameterText("file_path", "plan.json") +
                                               parameterText("content", plan));
        return behind(all.substr(0, all.find(plan) + plan.size()));
    };
    const std::string buffers = R"({"buffers":[{"name":"in0"},{"name":"out0"})";
    EXPECT_FALSE(mayCome(withPlan(buffers + R"(,{"name":"in0)"), "\"},{\""));
    EXPECT_TRUE(mayCome(withPlan(buffers + R"(,{"name":"in1)"), "\"},{\""));
    const std::string used = buffers + R"(],"steps":[{"args":[{"buffer":")";
    EXPECT_TRUE(mayCome(withPlan(used), "in"));
    EXPECT_FALSE(mayCome(withPlan(used), "tmp"));
    EXPECT_FALSE(mayCome(withPlan(used + "in"), "1"));
    EXPECT_FALSE(mayCome(withPlan(used + "in"), "\"},{\""));
    EXPECT_TRUE(mayCome(withPlan(used + "in0"), "\"},{\""));
}

TEST(NameMasks, AFunctionOfCudasIsCalled) {
    const std::string head = "__global__ void k(float *in0, int i) {\n";
    const auto named = within(head + "    float a = isnan");
    EXPECT_TRUE(mayCome(named, "("));
    EXPECT_FALSE(mayCome(named, ";\n"));
    EXPECT_FALSE(mayCome(named, " ?"));
    const auto begun = within(head + "    float a = j1");
    EXPECT_TRUE(mayCome(begun, "f")) << "j1f is one, too";
    EXPECT_FALSE(mayCome(begun, "]"));
    // Unless the source has a variable of that name.
    const auto own = within(head + "    const float exp = expf(in0[i]);\n    float a = exp");
    EXPECT_TRUE(mayCome(own, ";\n"));
    EXPECT_TRUE(mayCome(own, "f"));
    const auto behind = within(head + "    { const float exp = expf(in0[i]); }\n    float a = exp");
    EXPECT_FALSE(mayCome(behind, ";\n")) << "it has ended";
    EXPECT_TRUE(mayCome(within(head + "    float a = INFINITY"), ";\n")) << "no function";
}

TEST(NameMasks, BracketsCloseWhatIsOpen) {
    const std::string head = "__global__ void k(float *in0, int i) {\n";
    const auto index = within(head + "    float a = (in0[i");
    EXPECT_TRUE(mayCome(index, "]"));
    EXPECT_FALSE(mayCome(index, ")"));
    EXPECT_FALSE(mayCome(index, ";\n"));
    EXPECT_FALSE(mayCome(index, "];\n")) << "the first is open still";
    EXPECT_TRUE(mayCome(within(head + "    float a = (in0[i]"), ")"));
    EXPECT_FALSE(mayCome(within(head + "    float a = in0[i]"), ");\n"));
    EXPECT_TRUE(mayCome(within(head + "    float a = in0[i]"), ";\n"));
    EXPECT_TRUE(mayCome(within(head + "    for (int j = i"), ";"));
    EXPECT_FALSE(mayCome(within(head + "    for (int j = (i"), ";"));
    EXPECT_TRUE(mayCome(within(head + "    const auto f = run(i, [&](int j) { return j"), ";"))
        << "a statement of the lambda's";
    EXPECT_FALSE(mayCome(within(head + "    int j = 0;\n}\n"), "}")) << "all are closed";
    EXPECT_TRUE(mayCome(within(head + "    int j = 0;\n"), "}"));
    EXPECT_TRUE(mayCome(within(head + "    int j = 0; // (\n#endif\n"), "}"));
    EXPECT_FALSE(mayCome(within(head + "    int j = i"), "}")) << "the statement has no end";
    EXPECT_TRUE(mayCome(within(head + "    int j[2] = {0, i"), "}")) << "values";
    EXPECT_TRUE(mayCome(within("struct S { enum { a, b"), "}")) << "no statements";
    EXPECT_FALSE(mayCome(within(head + "    // (\n    i"), ")"));
    EXPECT_TRUE(mayCome(within(head + "    // i"), ")")) << "a comment";
}

TEST(NameMasks, AreTheSameByHoweverManyTokens) {
    // Names are told from those before, one by one or, behind a scope, anew.
    const std::string source = "__device__ int f(int a) { int b = a; return b; }\nint d = f(";
    const auto step = within(source);
    Writing once;
    ASSERT_TRUE(masks().take(once, *tokenizer().id(chat::think)));
    const NameMasks names([] {
        std::vector<std::string> bytes;
        for (std::int32_t id = 0; id < static_cast<std::int32_t>(tokenizer().size()); ++id)
            bytes.emplace_back(tokenizer().bytes(id));
        return bytes;
    }());
    const auto all = writeOf(source);
    names.take(once, all.substr(0, all.find(source) + source.size()));
    ASSERT_TRUE(step.begins && once.begins);
    EXPECT_EQ(*step.begins, *once.begins);
}

TEST(NameMasks, WhatIsDrawnUsesNoUnknownNames) {
    const std::string source = "__global__ void k(const float *in0, float *out0, int rows) {\n"
                               "    const int i = threadIdx.x;\n";
    std::size_t used = 0;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        std::mt19937_64 random(seed);
        auto writing = within(source);
        std::string begun;
        for (int step = 0; step < 150 && writing.names.inCode(); ++step) {
            const auto mask = masks().allowed(writing);
            std::vector<std::int32_t> may;
            for (std::size_t i = 0; i < mask->size(); ++i)
                if ((*mask)[i] != 0)
                    may.push_back(static_cast<std::int32_t>(i));
            ASSERT_FALSE(may.empty());
            const auto token = may[random() % may.size()];
            begun = writing.names.begun();
            const auto before = writing;
            ASSERT_TRUE(masks().take(writing, token));
            const auto bytes = tokenizer().bytes(token);
            const bool goesOn = SourceNames::isOfWord(bytes.front());
            if (!begun.empty() && !goesOn) {
                EXPECT_TRUE(before.names.isKnown(begun)) << begun;
                ++used;
            }
        }
    }
    EXPECT_GT(used, 100u);
}

} // namespace
} // namespace cuda_agent::learn
