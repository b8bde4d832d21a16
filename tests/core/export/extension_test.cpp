// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/export/export_fixture.h"

#include "core/export/interface.h"
#include "tests/source_dir.h"

#include <cstdlib>
#include <fstream>
#include <regex>

namespace cuda_agent::exporter {
namespace {

/// Compares with a file under tests/data/export/golden, which CUDA_AGENT_WRITE_GOLDEN=1 writes.
void expectGolden(const std::string &name, const std::string &text) {
    const std::filesystem::path file = testData() / "export/golden" / (name + ".txt");
    if (std::getenv("CUDA_AGENT_WRITE_GOLDEN") != nullptr) {
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file) << text;
    }
    const auto golden = readTextFile(file);
    ASSERT_TRUE(golden) << golden.error().message;
    EXPECT_EQ(text, *golden) << "CUDA_AGENT_WRITE_GOLDEN=1 writes " << file;
}

std::string problemOf(const Source &source, ErrorKind kind = ErrorKind::request) {
    const auto extension = makeExtension(source);
    if (extension)
        return "";
    EXPECT_EQ(extension.error().kind, kind);
    return extension.error().message;
}

TEST(Extension, HostCodeOfThePlan) {
    const auto extension = makeExtension(mixedSource(device::Kind::cuda));
    ASSERT_TRUE(extension) << extension.error().message;
    EXPECT_EQ(extension->package, "mixed_extension");
    expectGolden("operator.cpp", extension->files.at("csrc/operator.cpp"));
    expectGolden("kernels.h", extension->files.at("csrc/kernels.h"));
    expectGolden("softmax.cu", extension->files.at("csrc/cuda/kernels_softmax.cu"));
    expectGolden("package.py", extension->files.at("src/mixed_extension/__init__.py"));
    expectGolden("README.md", extension->files.at("README.md"));
}

TEST(Extension, KernelsAndTaskAreUnchanged) {
    const auto source = mixedSource();
    const auto extension = makeExtension(source).value();
    EXPECT_EQ(extension.files.at("csrc/kernels/softmax.cu"),
              source.kernels.at("kernels/softmax.cu"));
    EXPECT_EQ(extension.files.at("src/mixed_extension/reference.py"), source.text);
}

TEST(Extension, EveryOtherFileIsUnderThePermissiveLicence) {
    const auto extension = makeExtension(mixedSource(device::Kind::cuda)).value();
    for (const auto &[path, text] : extension.files) {
        if (path.ends_with("reference.py") || path == "csrc/kernels/softmax.cu" ||
            path == "MANIFEST.in" || path == "LICENSE" || path == "csrc/cpu/kernels_softmax.cpp")
            continue;
        EXPECT_TRUE(contains(text.substr(0, 200), "SPDX-License-Identifier: BSD-3-Clause")) << path;
        EXPECT_FALSE(contains(text.substr(0, 200), "GPL-3.0-or-later")) << path;
        EXPECT_FALSE(contains(text, "#include \"core/")) << path;
    }
    EXPECT_TRUE(contains(extension.files.at("LICENSE"), "Redistribution and use"));
}

TEST(Extension, NoPlaceholderIsLeft) {
    static const std::regex placeholder("@[A-Z_0-9]+@");
    for (const auto kind : {device::Kind::cpu, device::Kind::cuda}) {
        const auto extension = makeExtension(mixedSource(kind)).value();
        for (const auto &[path, text] : extension.files)
            EXPECT_FALSE(std::regex_search(text, placeholder)) << path;
    }
}

TEST(Extension, ForACpuThereIsNoCudaCode) {
    const auto extension = makeExtension(mixedSource(device::Kind::cpu)).value();
    EXPECT_FALSE(extension.files.contains("csrc/cuda/kernels_softmax.cu"));
    const auto &host = extension.files.at("csrc/cpu/kernels_softmax.cpp");
    EXPECT_TRUE(contains(host, "#define STEP 1"));
    EXPECT_TRUE(contains(host, "__CAH_ENTRY(softmax_rows"));
    EXPECT_FALSE(contains(host, "__CAH_LIBRARY_BEGIN"));
    EXPECT_TRUE(extension.files.contains("csrc/cpu/runtime/scheduler.cpp"));
    EXPECT_TRUE(extension.files.contains("csrc/cpu/include/abi.h"));
}

TEST(Extension, WhatOnlyAGpuRunsIsNotBuiltForACpu) {
    auto source = mixedSource(device::Kind::cuda);
    source.kernels["kernels/softmax.cu"] +=
        "__device__ void f() { asm volatile(\"bar.sync 0;\"); }\n";
    const auto extension = makeExtension(source).value();
    EXPECT_TRUE(contains(extension.hostProblem, "kernels/softmax.cu:"));
    EXPECT_FALSE(extension.files.contains("csrc/cpu/start.cpp"));
    EXPECT_TRUE(contains(extension.files.at("setup.py"), "CPU_PROBLEM = \"kernels/softmax.cu:"));
    EXPECT_TRUE(contains(extension.files.at("README.md"), "run on a GPU only"));
    source.device = device::Kind::cpu;
    EXPECT_TRUE(contains(problemOf(source, ErrorKind::failed), "the host cannot run"));
}

TEST(Extension, HeadersOfKernelsComeAlong) {
    auto source = mixedSource();
    source.kernels["kernels/softmax.cu"] =
        "#include <cuda_fp16.h>\n" + source.kernels["kernels/softmax.cu"];
    const auto extension = makeExtension(source).value();
    EXPECT_TRUE(contains(extension.files.at("csrc/cpu/kernels_softmax.cpp"),
                         "#include \"include/cuda_fp16.h\""));
    EXPECT_FALSE(contains(extension.files.at("csrc/cpu/kernels_softmax.cpp"), "<cuda_fp16.h>"));
}

TEST(Extension, APlanOfAnotherTaskIsRefused) {
    auto source = mixedSource();
    source.description.parameters.erase(source.description.parameters.begin());
    EXPECT_TRUE(contains(problemOf(source), "layers.0.weight"));
    source = mixedSource();
    source.description.outputs[1].type = contiguousType(DType::float64, {6, 40});
    EXPECT_TRUE(contains(problemOf(source), "must be float64"));
    source = mixedSource();
    source.description.scalars[1] = nullptr;
    EXPECT_TRUE(contains(problemOf(source), "no number at position 1"));
}

TEST(Extension, TwoKernelsOfOneNameAreRefused) {
    auto source = mixedSource();
    auto second = std::get<plan::KernelStep>(source.plan.steps[1]);
    second.source = "kernels/other.cu";
    source.kernels["kernels/other.cu"] = source.kernels["kernels/softmax.cu"];
    source.plan.steps.emplace_back(second);
    EXPECT_TRUE(contains(problemOf(source), "give one of them another name"));
}

TEST(Extension, AMissingKernelFileIsRefused) {
    auto source = mixedSource();
    source.kernels.clear();
    EXPECT_TRUE(contains(problemOf(source), "kernels/softmax.cu"));
}

TEST(Extension, ABackwardInForwardHasNoFurtherOne) {
    auto source = mixedSource();
    EXPECT_TRUE(makeExtension(source)->differentiable);
    EXPECT_TRUE(
        contains(makeExtension(source)->files.at("README.md"), "The backward is PyTorch's"));
    source.text += "\n# torch.autograd.grad(y, x)\n";
    const auto extension = makeExtension(source).value();
    EXPECT_FALSE(extension.differentiable);
    EXPECT_FALSE(
        contains(extension.files.at("src/mixed_extension/__init__.py"), "register_autograd"));
    EXPECT_TRUE(contains(extension.files.at("README.md"), "no gradient"));
}

TEST(Extension, DeclaredShapesAreConditions) {
    auto source = mixedSource();
    source.plan.buffers[0].declaresShape = true;
    source.plan.buffers[0].shape = {plan::Expression::parse("R").value(), plan::Expression(40)};
    const auto extension = makeExtension(source).value();
    EXPECT_TRUE(contains(extension.files.at("csrc/operator.cpp"),
                         "TORCH_CHECK(x.size(1) == 40, \"x.shape[1] == (40) does not hold\""));
    EXPECT_TRUE(contains(extension.files.at("src/mixed_extension/__init__.py"),
                         "if not (x.shape[1] == 40):"));
}

TEST(Extension, AnInputIsReadInThePlansOrder) {
    auto source = mixedSource();
    source.plan.buffers[0].order = {1, 0};
    const auto extension = makeExtension(source).value();
    const std::string &code = extension.files.at("csrc/operator.cpp");
    EXPECT_TRUE(contains(code, "const at::Tensor x_ordered = ready(x.permute({1, 0}), 16);"))
        << code;
    EXPECT_TRUE(contains(code, "x_ordered.const_data_ptr()")) << code;
    EXPECT_FALSE(contains(code, " x.const_data_ptr()")) << code;
    EXPECT_TRUE(contains(code, "x.size(1)")) << "sizes are the argument's";
}

TEST(Extension, AnOutputIsReturnedAsItWasWritten) {
    auto source = mixedSource();
    const auto output =
        std::ranges::find(source.plan.buffers, plan::Role::output, &plan::Buffer::role);
    ASSERT_NE(output, source.plan.buffers.end());
    ASSERT_EQ(output->shape.size(), 2u);
    output->order = {1, 0};
    const auto extension = makeExtension(source).value();
    const std::string &code = extension.files.at("csrc/operator.cpp");
    EXPECT_TRUE(contains(code, "_ordered.permute({1, 0})")) << code;
    const std::string &python = extension.files.at("src/mixed_extension/__init__.py");
    EXPECT_TRUE(contains(python, ".permute(1, 0)")) << python;
}

TEST(Extension, ClustersAndMuchSharedMemoryAreAskedFor) {
    auto source = mixedSource(device::Kind::cuda);
    auto &kernel = std::get<plan::KernelStep>(source.plan.steps[1]);
    kernel.cluster[0] = 2;
    kernel.shared = plan::Expression(65536);
    const auto extension = makeExtension(source).value();
    EXPECT_TRUE(contains(extension.files.at("csrc/operator.cpp"),
                         ".shared = static_cast<size_t>(65536), .cluster = {2, 1, 1}"));
}

TEST(Extension, AnUnverifiedCandidateSaysSo) {
    auto source = mixedSource();
    source.verdict = nullptr;
    EXPECT_TRUE(contains(makeExtension(source)->files.at("README.md"), "without being verified"));
}

TEST(Extension, PackageNames) {
    EXPECT_EQ(packageName("1_Conv2D"), "op_1_conv2d_extension");
    EXPECT_EQ(packageName("fused_norm"), "fused_norm_extension");
    EXPECT_EQ(packageName("a--b c.d"), "a_b_c_d_extension");
    EXPECT_EQ(packageName("语言"), "op_extension");
}

TEST(Extension, PlanNamesThatAreKeywordsAreChanged) {
    auto source = mixedSource();
    Json json = plan::toJson(source.plan);
    std::string text = json.dump();
    text = std::regex_replace(text, std::regex("\"high\""), "\"float\"");
    text = std::regex_replace(text, std::regex("\"rows\""), "\"softmax_rows\"");
    text = std::regex_replace(text, std::regex("\"entry\":\"float\""), "\"entry\":\"high\"");
    source.plan = plan::planFromJson(Json::parse(text)).value();
    const auto operatorText = makeExtension(source)->files.at("csrc/operator.cpp");
    EXPECT_TRUE(contains(operatorText, "at::Tensor float_ ="));
    EXPECT_TRUE(contains(operatorText, "at::Tensor softmax_rows_ ="));
}

} // namespace
} // namespace cuda_agent::exporter
