// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/base/paths.h"
#include "core/device/cuda_driver.h"
#include "core/device/device.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

using namespace cuda_agent;
using namespace cuda_agent::device;

namespace {

/// Runs in a child process, since a process loads its driver once. Prints how openCuda went.
[[noreturn]] void openWithFakeDriver(const char *version, const char *initCode) {
    setenv("FAKE_DRIVER_VERSION", version, 1);
    setenv("FAKE_DRIVER_INIT", initCode, 1);
    // The loader asks for libcuda.so.1 by name and gets the one that is there already.
    if (!dlopen((programDir() / "fake_driver/libcuda.so.1").c_str(), RTLD_NOW))
        std::fprintf(stderr, "%s", dlerror());
    const auto device = openCuda();
    std::fprintf(stderr, "%s", device ? "opened" : device.error().message.c_str());
    std::exit(device ? 0 : exitCode(device.error().kind));
}

TEST(Driver, TooOldNamesBothVersions) {
    EXPECT_EXIT(openWithFakeDriver("12040", "0"), testing::ExitedWithCode(3),
                "too old: it supports CUDA 12.4, this program needs CUDA 13.0");
}

TEST(Driver, NoDeviceIsSaid) {
    EXPECT_EXIT(openWithFakeDriver("13000", "100"), testing::ExitedWithCode(3), "finds no GPU");
}

TEST(Driver, AFailedStartCarriesTheDriversWords) {
    EXPECT_EXIT(openWithFakeDriver("13000", "999"), testing::ExitedWithCode(3),
                "does not start: CUDA_ERROR_UNKNOWN: unknown error");
}

TEST(Driver, AMissingFunctionIsNamed) {
    EXPECT_EXIT(openWithFakeDriver("13000", "0"), testing::ExitedWithCode(3),
                "CUDA 13.0. lacks cuDeviceGet");
}

TEST(Driver, WithoutADriverTheLibraryIsNamedAndAutoIsTheCpu) {
    if (dlopen("libcuda.so.1", RTLD_NOW))
        GTEST_SKIP() << "this machine has an NVIDIA driver";
    const auto device = openCuda();
    ASSERT_FALSE(device);
    EXPECT_EQ(device.error().kind, ErrorKind::machine);
    EXPECT_NE(device.error().message.find("libcuda.so.1 not found"), std::string::npos);
    const auto chosen = openAuto();
    ASSERT_TRUE(chosen);
    EXPECT_EQ((*chosen)->info().kind, Kind::cpu);
}

TEST(Driver, VersionsReadAsPeopleWriteThem) {
    EXPECT_EQ(cuda::versionText(12080), "12.8");
    EXPECT_EQ(cuda::versionText(13000), "13.0");
}

} // namespace
