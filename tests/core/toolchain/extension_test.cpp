// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// A whole extension of a module candidate for the CPU device, bindings against PyTorch's headers
// included, used from Python.

#include "core/base/paths.h"
#include "core/reference/launch.h"
#include "tests/core/toolchain/object_helpers.h"
#include "tests/source_dir.h"

using namespace cuda_agent;
using namespace cuda_agent::toolchain;
using namespace cuda_agent::toolchain::test;
namespace fs = std::filesystem;

namespace {

class HostExtension : public testing::Test {
  protected:
    void SetUp() override {
        auto mounts = reference::pythonMounts(pythonProgram());
        if (!mounts)
            GTEST_SKIP() << mounts.error().message;
        policy.name = "test";
        policy.mounts = std::move(*mounts);
        policy.mounts.push_back({folder, "/extension", true});
        policy.mounts.push_back({shareDir() / "host-cuda-torch", "/shims"});
        policy.mounts.push_back({hostLibrary()->parent_path(), "/library"});
        policy.workingDirectory = "/extension";
        policy.limits.wall = std::chrono::minutes(4);
        policy.limits.fileBytes = 1u << 30;
        auto found = python("import sysconfig, torch.utils.cpp_extension as e\n"
                            "print(e.include_paths()[0])\nprint(e.library_paths()[0])\n"
                            "print(sysconfig.get_paths()['include'])\n");
        std::istringstream lines(found.standardOutput);
        std::getline(lines, torchInclude);
        std::getline(lines, torchLibraries);
        std::getline(lines, pythonInclude);
        ASSERT_TRUE(found.clean()) << found.standardError;
        if (!fs::exists(fs::path(pythonInclude) / "Python.h"))
            GTEST_SKIP() << "Python's headers are not there";
    }

    sandbox::Record run(const std::vector<std::string> &argv, const std::string &input = {}) {
        auto record = sandbox::run(policy, argv, input);
        if (record)
            return std::move(*record);
        ADD_FAILURE() << record.error().message;
        return {};
    }
    sandbox::Record python(const std::string &text) {
        return run({pythonProgram().string(), "-"}, text);
    }
    sandbox::Record compile(const std::string &name, bool object = true) {
        std::vector<std::string> argv = {"/usr/bin/g++",
                                         "-std=c++17",
                                         "-O1",
                                         "-fPIC",
                                         "-isystem",
                                         "/shims",
                                         "-include",
                                         "cuda_agent_binding.h",
                                         "-isystem",
                                         torchInclude,
                                         "-isystem",
                                         torchInclude + "/torch/csrc/api/include",
                                         "-isystem",
                                         pythonInclude,
                                         "-DTORCH_EXTENSION_NAME=cuda_extension"};
        for (const std::string &word :
             {std::string(object ? "-c" : "-fsyntax-only"), name + ".cpp"})
            argv.push_back(word);
        if (object)
            argv.insert(argv.end(), {"-o", name + ".o"});
        return run(argv);
    }
    void write(const std::string &name, const std::string &text) {
        std::ofstream(folder / name) << text;
    }

    fs::path folder = temporaryFolder();
    sandbox::Policy policy;
    std::string torchInclude, torchLibraries, pythonInclude;
};

} // namespace

TEST_F(HostExtension, ThePublishedExampleFromPython) {
    const fs::path kernels =
        sourceDir() / "skills/module-candidates/candidates/residual_scale/kernels";
    const auto kernel = readTextFile(kernels / "residual_scale.cu");
    const auto binding = readTextFile(kernels / "residual_scale_binding.cpp");
    ASSERT_TRUE(kernel && binding);
    // A second file whose kernel fails, and words of the GPU in their other forms.
    auto failing = compileObject("#include <cuda_runtime.h>\n"
                                 "__global__ void half(float *x) {\n"
                                 "    if (threadIdx.x < 16)\n"
                                 "        __syncthreads();\n"
                                 "    x[threadIdx.x] = 1;\n"
                                 "}\n"
                                 "extern \"C\" void half_launcher(float *x, cudaStream_t s) {\n"
                                 "    half<<<1, 32, 0, s>>>(x);\n"
                                 "}\n",
                                 {}, "kernels/half.cu");
    auto residual = compileObject(*kernel, {}, "kernels/residual_scale.cu");
    ASSERT_TRUE(std::holds_alternative<Binary>(failing));
    ASSERT_TRUE(std::holds_alternative<Binary>(residual));
    for (const auto &[outcome, name] : {std::pair(&failing, "half"), std::pair(&residual, "scale")})
        fs::copy_file(std::get<Binary>(*outcome).file, folder / (std::string(name) + ".o"));
    write(
        "binding.cpp",
        R"(#define REGISTER_BINDING(name, function) void (*register_##name)(pybind11::module &) = &function
)" + binding->substr(binding->find("#include <c10")) +
            R"(
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/Exceptions.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" void half_launcher(float *x, cudaStream_t stream);

static torch::Tensor broken(torch::Tensor x) {
    const at::cuda::OptionalCUDAGuard maybe(at::device_of(x));
    const c10::cuda::CUDAGuard guard(x.device());
    TORCH_CHECK(x.device().type() == torch::kCUDA && x.device().is_cuda(), "wrong device");
    auto out = torch::zeros({32}, torch::TensorOptions().device(torch::kCUDA));
    TORCH_CHECK(reinterpret_cast<const __half *>(out.to(at::kHalf).data_ptr<at::Half>()));
    TORCH_CHECK(at::cuda::getCurrentDeviceProperties()->multiProcessorCount > 0);
    cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    AT_CUDA_CHECK(cudaMemsetAsync(out.data_ptr<float>(), 0, 128, stream));
    half_launcher(out.data_ptr<float>(), stream);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}

PYBIND11_MODULE(cuda_extension, m) {
    register_residual_scale(m);
    m.def("half", &broken);
}
)");
    const auto compiled = compile("binding");
    ASSERT_TRUE(compiled.clean()) << compiled.summary() << compiled.standardError;
    std::vector<std::string> link = {"/usr/bin/g++",
                                     "-shared",
                                     "binding.o",
                                     "half.o",
                                     "scale.o",
                                     "/library/libcuda-agent-host.so",
                                     "-Wl,-rpath,/library",
                                     "-L" + torchLibraries,
                                     "-ltorch_python",
                                     "-ltorch_cpu",
                                     "-lc10",
                                     "-o",
                                     "cuda_extension.so"};
    std::ranges::copy(hostLinkOptions(), std::back_inserter(link));
    const auto linked = run(link);
    ASSERT_TRUE(linked.clean()) << linked.standardError;

    const auto used = python(R"(
import ctypes, sys, torch
sys.path.insert(0, "/extension")
import cuda_extension
for n in (768, 770):
    x, r, s = torch.randn(64, n), torch.randn(64, n), torch.randn(n)
    for config in (0, 1, 2):
        out = cuda_extension.residual_scale_forward(x, r, s, config)
        torch.testing.assert_close(out, x + s * r, rtol=1e-6, atol=1e-6)
try:
    cuda_extension.residual_scale_forward(x.double(), r, s)
except RuntimeError as error:
    print(str(error).splitlines()[0])
try:
    cuda_extension.half(x)
except RuntimeError as error:
    print(str(error).splitlines()[0])
host = ctypes.CDLL("/library/libcuda-agent-host.so")
text = ctypes.create_string_buffer(1000)
print(host.cuda_agent_host_take_fault(text, ctypes.c_size_t(1000)), text.value.decode())
print(host.cuda_agent_host_take_fault(text, ctypes.c_size_t(1000)), host.cuda_agent_host_last_error(0))
torch.testing.assert_close(cuda_extension.residual_scale_forward(x, r, s), x + s * r)
)");
    EXPECT_TRUE(used.clean()) << used.summary() << used.standardError;
    EXPECT_EQ(used.standardOutput,
              "tensors must be float32\n"
              "CUDA error: unspecified launch failure (cudaErrorLaunchFailure)\n"
              "1 kernels/half.cu: line 4: divergent barrier: __syncthreads is reached by 16 of 32 "
              "threads of the block, while thread (16,0,0) has returned (block (0,0,0))\n"
              "0 0\n");
}

TEST_F(HostExtension, TheWholeOfTorchAndWhatIsNotThere) {
    write("whole.cpp", "#include <torch/extension.h>\n"
                       "bool f(torch::Tensor x) { return x.is_cuda() && "
                       "x.device() == torch::Device(torch::kCUDA); }\n"
                       "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def(\"f\", &f); }\n");
    const auto whole = compile("whole", false);
    EXPECT_TRUE(whole.clean()) << whole.standardError;
    write("library.cpp", "#include <cublas_v2.h>\n");
    const auto library = compile("library", false);
    EXPECT_FALSE(library.clean());
    EXPECT_NE(library.standardError.find("cuBLAS is not there on the cpu device"),
              std::string::npos)
        << library.standardError;
    EXPECT_NE(library.standardError.find("library.cpp:1"), std::string::npos);
}
