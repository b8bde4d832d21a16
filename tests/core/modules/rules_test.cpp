// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/modules/ptxas.h"
#include "core/modules/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// What the rules say to what ran.

namespace cuda_agent::modules {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char *ptxasOutput = R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_ZN50_GLOBAL__N__3a377bf6_17_residual_scale_cu_438aefe78elementsEPKfS1_S1_Pfxi' for 'sm_90a'
ptxas info    : Function properties for _ZN50_GLOBAL__N__3a377bf6_17_residual_scale_cu_438aefe78elementsEPKfS1_S1_Pfxi
    16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 20 registers, used 1 barriers, 4096 bytes smem
ptxas info    : Compile time = 29.360 ms
ptxas info    : Compiling entry function '_Z4rowsILi4EfEvPKT0_PS0_i' for 'sm_90a'
ptxas info    : Function properties for _Z4rowsILi4EfEvPKT0_PS0_i
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 26 registers, used 0 barriers
)";

Candidate workspace(const std::string &kernelText = "__global__ void k() {}") {
    Candidate candidate;
    candidate.form = Form::workspace;
    candidate.files = {{modelFile, "cublas in Python counts for nothing"},
                       {"kernels/k.cu", kernelText},
                       {"kernels/k_binding.cpp", ""}};
    return candidate;
}

Finding findingOf(Rules rules, std::vector<Audit::Operator> operators,
                  std::optional<std::vector<Audit::Kernel>> kernels = {},
                  const Candidate &candidate = workspace()) {
    Audit audit{std::move(operators), std::move(kernels), ""};
    return judgeOrigin(rules, audit, candidate, entriesFromPtxas(ptxasOutput));
}

TEST(Ptxas, GivesResourcesByReadableName) {
    const auto entries = entriesFromPtxas(ptxasOutput);
    ASSERT_EQ(entries.size(), 2u);
    EXPECT_EQ(entries[0].name, "elements");
    EXPECT_EQ(entries[0].registers, 20);
    EXPECT_EQ(entries[0].spillBytes, 8);
    EXPECT_EQ(entries[0].stackBytes, 16);
    EXPECT_EQ(entries[0].sharedBytes, 4096);
    EXPECT_EQ(entries[0].barriers, 1);
    EXPECT_EQ(entries[1].name, "rows<4, float>");
    EXPECT_EQ(entries[1].registers, 26);
    EXPECT_EQ(entries[1].sharedBytes, 0);
    EXPECT_THAT(entriesFromPtxas("nothing of the kind\n"), IsEmpty());
    EXPECT_THAT(entriesFromPtxas("ptxas info    : Compiling entry function '' for 'sm_90'\n"),
                IsEmpty());
}

TEST(Ptxas, CutsNamesWhereParametersBegin) {
    EXPECT_EQ(readableKernel("void (anonymous namespace)::words(float4 const*, int)"), "words");
    EXPECT_EQ(readableKernel("void a::b<(int)4, float>(float*)"), "a::b<(int)4, float>");
    EXPECT_EQ(readableKernel("plain"), "plain");
}

TEST(Origin, AllowsMakingAndViewingTensors) {
    EXPECT_THAT(findingOf(Rules::published, {{"aten.empty_like.default", 1, false},
                                             {"aten.view.default", 3, false},
                                             {"aten.clone.default", 1, false},
                                             {"mine.fused.default", 1, true}})
                    .refused,
                IsEmpty());
}

TEST(Origin, RefusesFrameworkOperatorsUnderThePublishedRules) {
    const auto published = findingOf(Rules::published, {{"aten.mm.default", 1, false}});
    EXPECT_THAT(published.refused, HasSubstr("aten.mm.default"));
    const auto benchmark = findingOf(Rules::kernelbench, {{"aten.mm.default", 1, false}});
    EXPECT_THAT(benchmark.refused, IsEmpty());
    ASSERT_EQ(benchmark.flags.size(), 1u);
    EXPECT_THAT(benchmark.flags[0], HasSubstr("aten.mm.default"));
}

TEST(Origin, RefusesForeignKernels) {
    const std::vector<Audit::Kernel> own{
        {"(anonymous namespace)::elements(float const*)", 1, 1e-5},
        {"void rows<4, float>(float const*, float*, int)", 1, 1e-5}};
    EXPECT_THAT(findingOf(Rules::published, {}, own).refused, IsEmpty());
    auto foreign = own;
    foreign.push_back({"void at::native::vectorized_elementwise_kernel<4, Gelu>(int)", 1, 1e-5});
    EXPECT_THAT(findingOf(Rules::published, {}, foreign).refused,
                HasSubstr("vectorized_elementwise_kernel"));
    EXPECT_THAT(findingOf(Rules::kernelbench, {}, foreign).refused, IsEmpty());
    EXPECT_THAT(findingOf(Rules::published, {}, std::vector<Audit::Kernel>{}).refused,
                HasSubstr("none of the candidate's own kernels"));
}

TEST(Origin, AllowsLibrariesOnlyForWhatTheyAreFor) {
    const std::vector<Audit::Kernel> product{{"nvjet_tst_128x256_64x4", 1, 1e-4},
                                             {"elements(float*)", 1, 1e-5}};
    EXPECT_THAT(findingOf(Rules::published, {}, product).refused, HasSubstr("nvjet"));
    const auto withBlas = workspace("#include <cublas_v2.h>");
    EXPECT_THAT(findingOf(Rules::published, {}, product, withBlas).refused, IsEmpty());
    const std::vector<Audit::Kernel> pooling{{"cudnn::pooling_fw_4d_kernel<float>()", 1, 1e-4}};
    EXPECT_THAT(findingOf(Rules::published, {}, pooling, workspace("#include <cudnn.h>")).refused,
                HasSubstr("pooling"));
}

TEST(Origin, SaysWhenKernelsWereNotRecorded) {
    Audit audit;
    audit.kernelsProblem = "CUPTI cannot be used";
    const auto finding = judgeOrigin(Rules::published, audit, workspace(), {});
    ASSERT_EQ(finding.flags.size(), 1u);
    EXPECT_THAT(finding.flags[0], HasSubstr("CUPTI cannot be used"));
}

TEST(Origin, BelievesOnlyTheFormOfAnAudit) {
    EXPECT_FALSE(auditFromJson(Json::object()));
    EXPECT_FALSE(auditFromJson({{"operators", {1, 2}}}));
    Json many = Json::array();
    for (int i = 0; i < 5000; ++i)
        many.push_back({{"name", "x"}});
    EXPECT_FALSE(auditFromJson({{"operators", many}}));
    const auto odd = auditFromJson(
        {{"operators", {{{"name", 7}, {"calls", "many"}}}}, {"kernels", Json::array()}});
    ASSERT_TRUE(odd);
    EXPECT_EQ(odd->operators[0].calls, 0);
    EXPECT_TRUE(odd->kernels);
}

} // namespace
} // namespace cuda_agent::modules
