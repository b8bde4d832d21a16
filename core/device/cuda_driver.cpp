// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/device/cuda_driver.h"

#include <dlfcn.h>

namespace cuda_agent::device::cuda {

namespace {

#define CUDA_AGENT_TEXT_OF(name) #name
#define CUDA_AGENT_TEXT(name) CUDA_AGENT_TEXT_OF(name)

template <typename Function>
bool find(void *library, const char *name, Function &function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    return function != nullptr;
}

Result<Driver> open() {
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *why = dlerror();
        return machineError("no NVIDIA driver: libcuda.so.1 not found ({}); install the driver, or "
                            "use --device cpu",
                            why ? why : "no reason given");
    }
    Driver driver;
    decltype(&::cuInit) init = nullptr;
    decltype(&::cuDriverGetVersion) getVersion = nullptr;
    if (!find(library, "cuInit", init) || !find(library, "cuDriverGetVersion", getVersion) ||
        !find(library, "cuGetErrorName", driver.cuGetErrorName) ||
        !find(library, "cuGetErrorString", driver.cuGetErrorString))
        return machineError("libcuda.so.1 is not an NVIDIA driver library; reinstall the driver");
    // The version can be asked before initialisation, and is the better message.
    if (getVersion(&driver.version) == CUDA_SUCCESS && driver.version < neededDriverVersion)
        return machineError("the NVIDIA driver is too old: it supports CUDA {}, this program needs "
                            "CUDA {}; update the driver to 580 or later",
                            versionText(driver.version), versionText(neededDriverVersion));
    if (const auto code = init(0); code != CUDA_SUCCESS) {
        if (code == CUDA_ERROR_NO_DEVICE)
            return machineError("the NVIDIA driver finds no GPU; check nvidia-smi and "
                                "CUDA_VISIBLE_DEVICES");
        return machineError("the NVIDIA driver does not start: {}; check nvidia-smi",
                            driver.describe(code));
    }
    const char *missing = nullptr;
#define CUDA_AGENT_FIND(name)                                                                      \
    if (!missing && !find(library, CUDA_AGENT_TEXT(name), driver.name))                            \
    missing = CUDA_AGENT_TEXT(name)
    CUDA_AGENT_DRIVER_FUNCTIONS(CUDA_AGENT_FIND);
#undef CUDA_AGENT_FIND
    if (missing)
        return machineError("the NVIDIA driver (CUDA {}) lacks {}; update the driver to 580 or "
                            "later",
                            versionText(driver.version), missing);
    CUDA_AGENT_TRY(driver.check(driver.cuDeviceGetCount(&driver.deviceCount), "cuDeviceGetCount"));
    if (driver.deviceCount == 0)
        return machineError("the NVIDIA driver finds no GPU; check nvidia-smi and "
                            "CUDA_VISIBLE_DEVICES");
    return driver;
}

} // namespace

Result<const Driver *> Driver::load() {
    static const Result<Driver> driver = open();
    if (!driver)
        return tl::unexpected(driver.error());
    return &*driver;
}

std::string Driver::describe(CUresult code) const {
    const char *name = nullptr;
    const char *text = nullptr;
    if (!cuGetErrorName || cuGetErrorName(code, &name) != CUDA_SUCCESS || !name)
        return fmt::format("CUDA error {}", static_cast<int>(code));
    if (!cuGetErrorString || cuGetErrorString(code, &text) != CUDA_SUCCESS || !text)
        return name;
    return fmt::format("{}: {}", name, text);
}

Result<void> Driver::check(CUresult code, std::string_view what) const {
    if (code == CUDA_SUCCESS)
        return {};
    return machineError("{}: {}{}", what, describe(code),
                        isSticky(code) ? " (the GPU is unusable for the rest of this process)"
                                       : "");
}

bool isSticky(CUresult code) {
    switch (code) {
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_CONTAINED:
        return true;
    default:
        return false;
    }
}

std::string versionText(int version) {
    return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

} // namespace cuda_agent::device::cuda
