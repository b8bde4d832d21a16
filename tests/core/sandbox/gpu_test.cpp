// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/core/sandbox/helpers.h"

using namespace cuda_agent;
using namespace cuda_agent::sandbox;
using namespace cuda_agent::sandbox::test;

namespace {

/// The number of the first /dev/nvidiaN, or nothing.
std::optional<int> firstGpu() {
    for (int number = 0; number < 16; ++number)
        if (std::filesystem::exists("/dev/nvidia" + std::to_string(number)))
            return number;
    return std::nullopt;
}

/// The driver interface by hand, so that the test needs neither a compiler nor PyTorch.
const std::string driverTest = R"(
import ctypes
cuda = ctypes.CDLL("libcuda.so.1")
def check(name, *arguments):
    result = getattr(cuda, name)(*arguments)
    if result != 0:
        raise SystemExit(f"{name} answered {result}")
count, device, context, memory = ctypes.c_int(), ctypes.c_int(), ctypes.c_void_p(), ctypes.c_uint64()
check("cuInit", 0)
check("cuDeviceGetCount", ctypes.byref(count))
check("cuDeviceGet", ctypes.byref(device), 0)
check("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
check("cuCtxSetCurrent", context)
check("cuMemAlloc_v2", ctypes.byref(memory), ctypes.c_size_t(1 << 20))
check("cuMemsetD8_v2", memory, ctypes.c_ubyte(42), ctypes.c_size_t(1 << 20))
back = (ctypes.c_ubyte * 4)()
check("cuMemcpyDtoH_v2", back, memory, ctypes.c_size_t(4))
print(count.value, list(back))
)";

} // namespace

TEST(Gpu, OneCardWorksInside) {
    const auto gpu = firstGpu();
    if (!gpu)
        GTEST_SKIP() << "no /dev/nvidiaN on this machine";
    auto policy = makePolicy();
    policy.gpu = gpu;
    const auto record = runPython(policy, driverTest);
    EXPECT_EQ(record.standardOutput, "1 [42, 42, 42, 42]\n") << record.summary() << "\n"
                                                             << record.standardError;
}

TEST(Gpu, NoCardIsThereUnlessAskedFor) {
    if (!firstGpu())
        GTEST_SKIP() << "no /dev/nvidiaN on this machine";
    EXPECT_EQ(runShell(makePolicy(), "ls /dev | grep nvidia; true").standardOutput, "");
    EXPECT_NE(runPython(makePolicy(), driverTest).exitCode, 0);
}

TEST(Gpu, ControlGroupsAndKernelSettingsStayHidden) {
    if (!firstGpu())
        GTEST_SKIP() << "no /dev/nvidiaN on this machine";
    auto policy = makePolicy();
    policy.gpu = firstGpu();
    const auto record = runShell(
        policy, "ls -d /sys/fs /sys/kernel /sys/firmware 2>/dev/null; echo x > /sys/devices/x; "
                "cut -d' ' -f5,6 /proc/self/mountinfo | grep '^/sys' | grep -v ' ro'; true");
    EXPECT_EQ(record.standardOutput, "");
}
