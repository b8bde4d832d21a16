// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/device/crew.h"

#include <gtest/gtest.h>

using cuda_agent::device::Crew;

TEST(Crew, DoesEachPartOnceAndAllBeforeItReturns) {
    Crew crew;
    for (int round = 0; round < 2000; ++round) {
        const int parts = round % 37;
        std::vector<int> done(static_cast<std::size_t>(parts));
        crew.run(parts, [&](std::int64_t i) { ++done[static_cast<std::size_t>(i)]; });
        for (const int count : done)
            ASSERT_EQ(count, 1) << "round " << round;
    }
}

TEST(Crew, EndsWithoutAJob) {
    Crew crew;
    EXPECT_GE(crew.size(), 1);
}
