// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/runner/backend.h"

#include <gtest/gtest.h>

// How long the runner takes a call to be, from which the calls of a sample follow.

namespace cuda_agent::plan::runner {
namespace {

struct Heard {
    double seconds = 0;
    std::size_t calls = 0;
};

Heard warmUpWith(const TimeRequest &request, const std::vector<double> &calls) {
    Heard heard;
    const auto least = warmUp(request, [&]() -> Result<double> { return calls.at(heard.calls++); });
    heard.seconds = least.value();
    return heard;
}

TEST(WarmUp, AColdFirstCallDoesNotTellHowLongOneTakes) {
    TimeRequest request;
    request.warmup = 3;
    request.minimumSampleSeconds = 0.005;
    const auto heard = warmUpWith(request, {0.02, 3e-5, 4e-5, 0});
    EXPECT_EQ(heard.calls, 3u);
    EXPECT_EQ(heard.seconds, 3e-5);
    EXPECT_EQ(callsPerSample(request.minimumSampleSeconds, heard.seconds), 167);
}

TEST(WarmUp, OneCallTellsWhereNoneIsAskedFor) {
    TimeRequest request;
    request.minimumSampleSeconds = 0.005;
    const auto heard = warmUpWith(request, {0.02, 0});
    EXPECT_EQ(heard.calls, 1u);
    EXPECT_EQ(heard.seconds, 0.02);
}

TEST(WarmUp, MakesTheCallsThatAreAskedFor) {
    TimeRequest request;
    EXPECT_EQ(warmUpWith(request, {}).calls, 0u);
    request.warmup = 4;
    EXPECT_EQ(warmUpWith(request, {1, 2, 3, 4, 0}).calls, 4u);
    request.minimumSampleSeconds = 0.5;
    EXPECT_EQ(warmUpWith(request, {1, 2, 3, 4, 0}).calls, 4u);
}

TEST(WarmUp, AFailingCallEndsIt) {
    TimeRequest request;
    request.warmup = 3;
    int calls = 0;
    const auto told = warmUp(request, [&]() -> Result<double> {
        ++calls;
        return machineError("the device is gone");
    });
    ASSERT_FALSE(told);
    EXPECT_EQ(told.error().message, "the device is gone");
    EXPECT_EQ(calls, 1);
}

} // namespace
} // namespace cuda_agent::plan::runner
