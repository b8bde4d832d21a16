// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/modules/precompiled.h"

#include "core/base/paths.h"
#include "core/base/temporary_folder.h"
#include "core/modules/build.h"

#include <fstream>

namespace cuda_agent::modules {
namespace {

namespace fs = std::filesystem;
using device::Kind;

const std::string both = "#include <torch/types.h>\n#include <torch/csrc/utils/pybind.h>\n";

TEST(Precompilable, IsWhatABindingBeginsWith) {
    EXPECT_EQ(precompilable(both + "int x;", Kind::cuda), both);
    EXPECT_EQ(precompilable("// As published.\n#include \"../binding_registry.h\"\n\n"
                            "#include <c10/cuda/CUDAStream.h>\n"
                            "#include <torch/csrc/utils/pybind.h>\n#include <torch/types.h>\n",
                            Kind::cuda),
              both);
    // The larger set, where it is asked for.
    EXPECT_EQ(precompilable(both + "#include <torch/extension.h>\n", Kind::cuda),
              "#include <torch/extension.h>\n");
}

TEST(Precompilable, GivesNothingThatTheTextLacksOrMayChange) {
    EXPECT_EQ(precompilable("", Kind::cuda), "");
    EXPECT_EQ(precompilable("#include <torch/types.h>\nint x;\n", Kind::cuda), "");
    EXPECT_EQ(precompilable("#define NDEBUG\n" + both, Kind::cuda), "");
    EXPECT_EQ(precompilable("#include \"mine.h\"\n" + both, Kind::cuda), "");
    EXPECT_EQ(precompilable("#include <torch/types.h>\nint x;\n"
                            "#include <torch/csrc/utils/pybind.h>\n",
                            Kind::cuda),
              "");
    // On the cpu device the engine itself puts them first.
    EXPECT_EQ(precompilable("#define NDEBUG\n", Kind::cpu), "#include <cuda_agent_binding.h>\n");
}

class PrecompiledHeaders : public testing::Test {
  protected:
    void SetUp() override {
        setenv("CUDA_AGENT_CACHE", cache_.path().c_str(), 1);
        auto found = Tools::find(device::openCpu().value()->info(), {});
        ASSERT_TRUE(found) << found.error().message;
        tools_ = std::move(*found);
    }
    void TearDown() override { unsetenv("CUDA_AGENT_CACHE"); }

    TemporaryFolder cache_ = TemporaryFolder::make("test").value();
    Tools tools_;
};

TEST_F(PrecompiledHeaders, ServeFromTheSecondTimeOn) {
    const auto includes = precompilable("", Kind::cpu);
    auto found = precompiledHeaders(tools_, includes, {});
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_FALSE(*found) << "one binding alone is not worth it";
    found = precompiledHeaders(tools_, includes, {});
    ASSERT_TRUE(found) << found.error().message;
    ASSERT_TRUE(*found);
    const auto folder = **found;
    EXPECT_GT(fs::file_size(folder / "headers.h.gch"), 50u << 20);

    // What is read in their place when they do not fit would be an error.
    std::ofstream(folder / "headers.h") << "#error \"the precompiled headers are not used\"\n";
    Candidate candidate;
    candidate.form = Form::workspace;
    candidate.files = {{"model_new.py", "class ModelNew:\n    pass\n"},
                       {"kernels/x_binding.cpp",
                        "#include \"../binding_registry.h\"\n"
                        "static int one() { return torch::ones({1}).item<int>(); }\n"
                        "static void add(pybind11::module &m) { m.def(\"one\", &one); }\n"
                        "REGISTER_BINDING(one, add);\n"}};
    auto builder = Builder::make(tools_.device, {});
    ASSERT_TRUE(builder) << builder.error().message;
    auto outcome = (*builder)->compile(candidate, {});
    ASSERT_TRUE(outcome) << outcome.error().message;
    const auto *rejection = std::get_if<toolchain::Rejection>(&*outcome);
    EXPECT_FALSE(rejection) << rejection->log;
    // Errors keep their lines.
    candidate.files["kernels/x_binding.cpp"] += "int two() { return missing; }\n";
    outcome = (*builder)->compile(candidate, {});
    ASSERT_TRUE(outcome) << outcome.error().message;
    rejection = std::get_if<toolchain::Rejection>(&*outcome);
    ASSERT_TRUE(rejection);
    ASSERT_FALSE(rejection->diagnostics.empty());
    EXPECT_EQ(rejection->diagnostics[0].file, "kernels/x_binding.cpp");
    EXPECT_EQ(rejection->diagnostics[0].line, 5);
}

TEST_F(PrecompiledHeaders, ThatCannotBeMadeAreTriedOnce) {
    const std::string includes = "#error \"no\"\n";
    for (int i = 0; i < 3; ++i) {
        const auto found = precompiledHeaders(tools_, includes, {});
        ASSERT_TRUE(found) << found.error().message;
        EXPECT_FALSE(*found);
    }
    std::vector<fs::path> left;
    for (const auto &entry : fs::directory_iterator(cacheDir() / "headers"))
        left.push_back(entry.path());
    ASSERT_EQ(left.size(), 1u);
    EXPECT_EQ(readTextFile(left[0]).value(), "failed");
}

TEST_F(PrecompiledHeaders, CanBeStoppedAndMadeLater) {
    const auto includes = precompilable("", Kind::cpu);
    ASSERT_TRUE(precompiledHeaders(tools_, includes, {}));
    std::stop_source stop;
    stop.request_stop();
    const auto found = precompiledHeaders(tools_, includes, stop.get_token());
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().kind, ErrorKind::stopped);
    for (const auto &entry : fs::directory_iterator(cacheDir() / "headers")) {
        EXPECT_EQ(entry.path().extension(), ".asked");
        EXPECT_EQ(readTextFile(entry.path()).value(), "asked") << "it may be tried again";
    }
}

} // namespace
} // namespace cuda_agent::modules
