// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/device/cuda_driver.h"
#include "core/device/nvrtc_library.h"
#include "core/learn/kernels/kernel_text.h"
#include "core/learn/kernels/launcher.h"

#include <c10/cuda/CUDAStream.h>
#include <c10/util/Exception.h>

namespace cuda_agent::learn {

namespace {

using device::cuda::Driver;
using device::cuda::Nvrtc;

/// The device's primary context, which is PyTorch's, current for a while. A thread of autograd may
/// have none yet.
class Current {
  public:
    Current(const Driver &driver, CUcontext context) : driver_(driver) {
        if (driver_.cuCtxGetCurrent(&before_) == CUDA_SUCCESS && before_ == context)
            before_ = nullptr; // nothing to put back
        else
            code_ = driver_.cuCtxSetCurrent(context);
    }
    ~Current() {
        if (before_)
            driver_.cuCtxSetCurrent(before_);
    }
    Current(const Current &) = delete;
    Current &operator=(const Current &) = delete;
    CUresult code() const { return code_; }

  private:
    const Driver &driver_;
    CUcontext before_ = nullptr;
    CUresult code_ = CUDA_SUCCESS;
};

class CudaLauncher final : public Launcher {
  public:
    static Result<std::shared_ptr<const Launcher>>
    open(const std::map<std::string, std::string> &defines, int device) {
        const std::shared_ptr<CudaLauncher> mine(new CudaLauncher);
        CUDA_AGENT_ASSIGN(driver, Driver::load());
        mine->driver_ = driver;
        mine->index_ = device;
        CUdevice handle = 0;
        CUDA_AGENT_TRY(driver->check(driver->cuDeviceGet(&handle, device), "cuDeviceGet"));
        const auto attribute = [&](CUdevice_attribute which) {
            int value = 0;
            driver->cuDeviceGetAttribute(&value, which, handle);
            return value;
        };
        const int major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
                  minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
        if (major < 8)
            return machineError("the fused kernels need a GPU of sm_80 or later, not sm_{}{}; set "
                                "fused = false in the recipe",
                                major, minor);
        mine->blocks_ =
            2 * static_cast<std::uint32_t>(attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
        CUDA_AGENT_ASSIGN(cubin, compileKernels(defines, fmt::format("sm_{}{}", major, minor)));
        // Never given back: PyTorch holds the same context to the end of the process.
        CUDA_AGENT_TRY(driver->check(driver->cuDevicePrimaryCtxRetain(&mine->context_, handle),
                                     "cuDevicePrimaryCtxRetain"));
        const Current current(*driver, mine->context_);
        CUDA_AGENT_TRY(driver->check(current.code(), "cuCtxSetCurrent"));
        CUDA_AGENT_TRY(driver->check(driver->cuModuleLoadData(&mine->module_, cubin.data()),
                                     "cuModuleLoadData"));
        for (const auto &entry : kernelEntries())
            CUDA_AGENT_TRY(driver->check(
                driver->cuModuleGetFunction(&mine->functions_[entry], mine->module_, entry.c_str()),
                entry));
        return mine;
    }
    ~CudaLauncher() override {
        if (!module_)
            return;
        const Current current(*driver_, context_);
        driver_->cuModuleUnload(module_);
    }

    std::uint32_t blocksAtOnce() const override { return blocks_; }

    void launch(const char *entry, Grid grid, std::uint32_t threads,
                const std::vector<void *> &arguments) const override {
        const auto stream = c10::cuda::getCurrentCUDAStream(static_cast<c10::DeviceIndex>(index_));
        const Current current(*driver_, context_);
        auto code = current.code();
        if (code == CUDA_SUCCESS)
            code = driver_->cuLaunchKernel(functions_.at(entry), grid.x, grid.y, 1, threads, 1, 1,
                                           0, stream.stream(),
                                           const_cast<void **>(arguments.data()), nullptr);
        TORCH_CHECK(code == CUDA_SUCCESS, entry, ": ", driver_->describe(code));
    }

  private:
    CudaLauncher() = default;

    const Driver *driver_ = nullptr;
    int index_ = 0;
    std::uint32_t blocks_ = 1;
    CUcontext context_ = nullptr;
    CUmodule module_ = nullptr;
    std::map<std::string, CUfunction, std::less<>> functions_;
};

} // namespace

const std::string &kernelText() {
    static const std::string text = learnKernelText;
    return text;
}

const std::vector<std::string> &kernelEntries() {
    static const std::vector<std::string> entries{
        "rms_norm",          "rms_norm_backward",     "column_sums", "qkv_rope",
        "qkv_rope_backward", "attend_step",           "swiglu",      "swiglu_backward",
        "cross_entropy",     "cross_entropy_backward"};
    return entries;
}

Result<std::string> compileKernels(const std::map<std::string, std::string> &defines,
                                   const std::string &architecture) {
    CUDA_AGENT_ASSIGN(folder, Nvrtc::findFolder(Nvrtc::folders()));
    CUDA_AGENT_ASSIGN(nvrtc, Nvrtc::load(folder));
    std::vector<std::string> options{"--gpu-architecture=" + architecture, "-std=c++17"};
    for (const auto &[name, value] : defines)
        options.push_back(fmt::format("--define-macro={}={}", name, value));
    auto result = nvrtc.compile(kernelText(), "learn_kernels.cu", options);
    if (result.code != NVRTC_SUCCESS)
        return machineError("the fused kernels do not compile for {}: {}\n{}", architecture,
                            nvrtc.describe(result.code), result.log);
    return std::move(result.cubin);
}

Result<std::shared_ptr<const Launcher>>
cudaLauncher(const std::map<std::string, std::string> &defines, int device) {
    return CudaLauncher::open(defines, device);
}

} // namespace cuda_agent::learn
