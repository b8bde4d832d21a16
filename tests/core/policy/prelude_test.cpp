// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/kernel_writer.h"
#include "core/policy/planner/search.h"
#include "core/toolchain/listing_of.h"
#include "tests/core/policy/planner_graphs.h"

#include <gtest/gtest.h>

#include <regex>

// Sources hold those parts of a prelude alone that their kernels need. What is left out on a GPU's
// side no run on a CPU would miss, so here the compiler's output is compared with that of all
// parts.

namespace cuda_agent::policy::graphs {
namespace {

/// All that preludes of products and attention may have, and what these tests' kernels use besides.
const std::set<std::string> everything{
    "cdiv",     "widen",      "loadVector",   "storeVector",    "product",
    "tensor",   "attention",  "windows",      "channelWindows", "tensorAttention",
    "padded",   "neighbours", "sumsInBlocks", "float32",        "float16",
    "bfloat16", "alongK",     "floatAcross",  "shortAcross",    "rounded",
    "split",    "whole"};

/// How often the compiler's output for Hopper has each instruction that computes, moves data or
/// waits. How addresses are worked out, in which order, and rarely by how many loads, differs from
/// run to run.
std::map<std::string, int> workOf(const std::string &text) {
    const auto made =
        toolchain::listingOf({"kernels/planner.cu", text, {}, {}}, "sm_90", toolchain::Code::ptx);
    EXPECT_TRUE(made) << made.error().message;
    const auto *listing = made ? std::get_if<toolchain::Listing>(&*made) : nullptr;
    EXPECT_TRUE(listing) << text;
    static const std::regex work(
        "(mma|ldmatrix|ld|st|cp|bar|call|shfl|vote|ex2|rcp|fma)\\.[a-z0-9_.:]+|"
        "(add|sub|mul|max|min|div|cvt\\.rna)\\.[a-z.]*f(16|32)[a-z0-9.]*");
    std::map<std::string, int> counts;
    if (listing)
        for (const auto &function : listing->functions)
            for (const auto &instruction : function.instructions)
                if (std::smatch match; std::regex_search(instruction.text, match, work))
                    ++counts[match.str()];
    return counts;
}

/// Compares one candidate's source with the same kernels behind all of the prelude. Returns it.
std::string compare(const SearchSpace &space, const std::string &name) {
    const auto files = space.write(name, {});
    EXPECT_TRUE(files) << files.error().message;
    const std::string source = files ? files->files.at("kernels/planner.cu") : "";
    EXPECT_EQ(source.find("//IF"), source.npos) << name;
    EXPECT_EQ(source.find("//ELSE"), source.npos) << name;
    EXPECT_EQ(source.find("//END"), source.npos) << name;
    const auto kernels = source.find("extern \"C\"");
    EXPECT_NE(kernels, source.npos) << name;
    const std::string all =
        preludeText(everything, {DType::float16, DType::bfloat16}) + source.substr(kernels);
    EXPECT_LT(source.size(), all.size()) << name;
    auto work = workOf(source), wanted = workOf(all);
    for (int again = 1; again < 5 && work != wanted; ++again) {
        const auto other = fmt::format("// {}\n", again); // for the compiler's cache
        work = workOf(other + source);
        wanted = workOf(other + all);
    }
    EXPECT_FALSE(work.empty()) << name;
    EXPECT_EQ(work, wanted) << name;
    return source;
}

/// The first candidate whose schedule begins so.
std::string firstOf(const SearchSpace &space, const std::string &form) {
    for (const std::string &name : space.allSingleChanges())
        if (name.find("|" + form) != name.npos)
            return name;
    ADD_FAILURE() << "no schedule " << form;
    return {};
}

std::string compareFirst(const SearchSpace &space, const std::string &form) {
    return compare(space, firstOf(space, form));
}

struct Form {
    DType type;
    task::Numerics numerics;
};
constexpr Form forms[] = {{DType::float16, task::Numerics::standard},
                          {DType::bfloat16, task::Numerics::standard},
                          {DType::float32, task::Numerics::tf32},
                          {DType::float32, task::Numerics::standard}};

/// gelu(x w), either operand with k along its rows or not.
SearchSpace productOf(const Form &form, bool aAlongK, bool bAlongK) {
    GraphWriter g;
    const auto operand = [&](std::int64_t rows, std::int64_t columns, bool asItLies) {
        if (asItLies)
            return g.input(contiguousType(form.type, {rows, columns}));
        const Json turned = g.input(contiguousType(form.type, {columns, rows}));
        return g.op("permute.default", contiguousType(form.type, {rows, columns}), turned,
                    Json{1, 0});
    };
    const Json x = operand(128, 256, aAlongK), w = operand(256, 192, !bAlongK);
    const TensorType out = contiguousType(form.type, {128, 192});
    return spaceOf(g.returning({g.op("gelu.default", out, g.op("mm.default", out, x, w))}),
                   form.numerics);
}

TEST(Prelude, TensorProductsMissNothing) {
    for (const Form &form : forms)
        for (const auto &[a, b] : {std::pair{true, true}, {true, false}, {false, false}})
            compareFirst(productOf(form, a, b), "tensor");
}

/// Those run on the CPU device as they do on a GPU, so that recorded tasks tell what they miss.
TEST(Prelude, ProductsInFloatArithmeticHoldNoTensorCores) {
    const auto space = productOf(forms[3], true, false);
    const auto name = firstOf(space, "product");
    const auto files = space.write(name, {});
    ASSERT_TRUE(files) << files.error().message;
    const std::string &source = files->files.at("kernels/planner.cu");
    for (const char *part : {"block > 0", "elementByElement", "copyAsync", "Multiply", "//IF"})
        EXPECT_EQ(source.find(part), source.npos) << part;
}

TEST(Prelude, ConvolutionsMissNothing) {
    for (const Form &form : forms)
        for (const bool transposed : {false, true}) {
            GraphWriter g;
            const auto type = [&](Shape shape) { return contiguousType(form.type, shape); };
            const Json x = g.input(type({8, 32, 20, 20}));
            const Json w = g.input(type(transposed ? Shape{32, 64, 4, 4} : Shape{64, 32, 3, 3}));
            const TensorType out = type({8, 64, transposed ? 40 : 20, transposed ? 40 : 20});
            const std::int64_t step = transposed ? 2 : 1;
            const Json y = g.op("convolution.default", out, x, w, nullptr, Json{step, step},
                                Json{1, 1}, Json{1, 1}, transposed, Json{0, 0}, 1);
            const auto space = spaceOf(g.returning({g.op("relu.default", out, y)}), form.numerics);
            compareFirst(space, "tensor");
        }
}

TEST(Prelude, AttentionMissesNothing) {
    for (const Form &form : forms) {
        GraphWriter g;
        const TensorType type = contiguousType(form.type, {4, 8, 256, 64});
        const Json q = g.input(type), k = g.input(type), v = g.input(type);
        const Json tuple =
            g.node("aten._scaled_dot_product_flash_attention_for_cpu.default",
                   {type, f32({4, 8, 256})}, Json::array({q, k, v, 0.0, true}), Json::object());
        const auto space = spaceOf(g.returning({g.item(tuple, 0, type)}), form.numerics);
        const auto source = compareFirst(space, "tensor");
        EXPECT_NE(source.find("AttentionTile"), source.npos);
        EXPECT_EQ(source.find("TensorProduct"), source.npos);
    }
}

TEST(Prelude, SourcesHoldWhatTheirTypeNeeds) {
    const std::vector<std::vector<std::string>> own{
        {"Multiply<__half>"},
        {"Multiply<__nv_bfloat16>"},
        {"Multiply<float>", "roundedToTf32"},
        {"Multiply<float>", "elementByElement", "if constexpr (split)"}};
    std::set<std::string> parts;
    for (const auto &each : own)
        parts.insert(each.begin(), each.end());
    for (std::size_t i = 0; i < own.size(); ++i) {
        const auto text = compareFirst(productOf(forms[i], true, true), "tensor");
        for (const std::string &part : parts)
            EXPECT_EQ(text.find(part) != text.npos, std::ranges::count(own[i], part) == 1)
                << nameOf(forms[i].type) << ": " << part;
    }
}

TEST(ChosenParts, AreThoseOfAnyNameWithinWhatIsChosen) {
    const std::string text = "a\n//IF x\nb\n//IF y z\nc\n//END\nd\n//END\ne";
    EXPECT_EQ(chosenParts(text, {}), "a\ne");
    EXPECT_EQ(chosenParts(text, {"x"}), "a\nb\nd\ne");
    EXPECT_EQ(chosenParts(text, {"z"}), "a\ne");
    EXPECT_EQ(chosenParts(text, {"x", "z"}), "a\nb\nc\nd\ne");
    EXPECT_EQ(chosenParts("", {"x"}), "");
    const std::string either = "//IF x\n//IF y\na\n//ELSE\nb\n//END\n//ELSE\nc\n//IF y\nd\n"
                               "//END\n//END\n";
    EXPECT_EQ(chosenParts(either, {}), "c\n");
    EXPECT_EQ(chosenParts(either, {"y"}), "c\nd\n");
    EXPECT_EQ(chosenParts(either, {"x"}), "b\n");
    EXPECT_EQ(chosenParts(either, {"x", "y"}), "a\n");
}

} // namespace
} // namespace cuda_agent::policy::graphs
