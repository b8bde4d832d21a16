// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/device/ceilings.h"

#include "core/base/paths.h"

#include <fstream>
#include <gtest/gtest.h>

using namespace cuda_agent;
using namespace cuda_agent::device;

namespace {

namespace fs = std::filesystem;

class CeilingsTest : public testing::Test {
  protected:
    void SetUp() override {
        folder_ = fs::temp_directory_path() / ("cuda-agent-levels-" + std::to_string(getpid()));
        fs::create_directories(folder_);
        setenv("CUDA_AGENT_CACHE", folder_.c_str(), 1);
        info_.name = "A card";
        info_.architecture = "sm_90";
    }
    void TearDown() override {
        unsetenv("CUDA_AGENT_CACHE");
        fs::remove_all(folder_);
    }
    static Ceilings sample() {
        Ceilings ceilings{4.2e12, 5e13, 4e14, 7e14, {}};
        ceilings.launchSeconds = 4.5e-6;
        ceilings.levels = {{"L1/shared", 30u << 20, 3.3e13}, {"L2", 60u << 20, 6e12}};
        return ceilings;
    }
    void put(const std::string &name, const std::string &file, const std::string &text) {
        fs::create_directories(folder_ / name);
        std::ofstream(folder_ / name / file) << text << "\n";
    }
    fs::path cacheFile() const {
        for (const auto &entry : fs::directory_iterator(folder_))
            if (entry.path().extension() == ".json")
                return entry.path();
        return {};
    }

    fs::path folder_;
    Info info_;
};

TEST_F(CeilingsTest, GoThroughJsonUnchanged) {
    const auto json = toJson(sample());
    const auto back = ceilingsFromJson(json);
    ASSERT_TRUE(back);
    EXPECT_EQ(toJson(*back), json);
    EXPECT_EQ(back->levels[0].name, "L1/shared");
    EXPECT_EQ(back->levels[1].bytes, 60u << 20);
    EXPECT_EQ(back->levels[1].bytesPerSecond, 6e12);
    EXPECT_EQ(back->halfFlopsPerSecond, 7e14);
    EXPECT_EQ(back->launchSeconds, 4.5e-6);
}

TEST_F(CeilingsTest, WhatIsNoneIsRefused) {
    const auto good = toJson(sample());
    for (const char *key :
         {"copy_bytes_per_second", "fp32_flops_per_second", "tf32_flops_per_second",
          "half_flops_per_second", "launch_seconds", "levels"}) {
        auto lacking = good;
        lacking.erase(key);
        EXPECT_FALSE(ceilingsFromJson(lacking)) << key;
        auto wrong = good;
        wrong[key] = "much";
        EXPECT_FALSE(ceilingsFromJson(wrong)) << key;
        wrong[key] = -1;
        EXPECT_FALSE(ceilingsFromJson(wrong)) << key;
    }
    for (const char *key : {"name", "bytes", "bytes_per_second"}) {
        auto lacking = good;
        lacking["levels"][1].erase(key);
        EXPECT_FALSE(ceilingsFromJson(lacking)) << key;
    }
    EXPECT_FALSE(ceilingsFromJson(Json(7)));
    EXPECT_FALSE(ceilingsFromJson({{"levels", {1, 2}}}));
}

TEST_F(CeilingsTest, AnOlderFileIsMeasuredAgainOnce) {
    int measured = 0;
    const auto measure = [&]() -> Result<Ceilings> {
        ++measured;
        return sample();
    };
    ASSERT_TRUE(cachedCeilings(info_, measure));
    ASSERT_TRUE(cachedCeilings(info_, measure));
    EXPECT_EQ(measured, 1);
    // As it was before the levels.
    ASSERT_TRUE(writeFileAtomically(cacheFile(), R"({"version": 2, "copy_bytes_per_second": 1e12,
        "fp32_flops_per_second": 1e12, "tf32_flops_per_second": 1e12})"));
    EXPECT_FALSE(knownCeilings(info_));
    const auto again = cachedCeilings(info_, measure);
    ASSERT_TRUE(again);
    EXPECT_EQ(measured, 2);
    EXPECT_EQ(again->levels.size(), 2u);
    ASSERT_TRUE(knownCeilings(info_));
    EXPECT_EQ(toJson(*knownCeilings(info_)), toJson(sample()));
}

TEST_F(CeilingsTest, CachesAreReadFromTheKernelsDescription) {
    put("index0", "level", "1");
    put("index0", "type", "Data");
    put("index0", "size", "48K");
    put("index0", "shared_cpu_list", "0,64");
    put("index1", "level", "1");
    put("index1", "type", "Instruction");
    put("index1", "size", "32K");
    put("index2", "level", "3");
    put("index2", "type", "Unified");
    put("index2", "size", "105M");
    put("index2", "shared_cpu_list", "0-31,64-95");
    put("index3", "level", "2"); // not innermost first
    put("index3", "type", "Unified");
    put("index3", "size", "2048K");
    put("index4", "level", "4");
    put("index4", "type", "Unified");
    put("index4", "size", "unknown");
    const auto caches = cpuCaches(folder_);
    ASSERT_EQ(caches.size(), 3u);
    EXPECT_EQ(caches[0].level, 1);
    EXPECT_EQ(caches[0].bytes, 48u << 10);
    EXPECT_EQ(caches[0].sharers, 2);
    EXPECT_EQ(caches[1].level, 2);
    EXPECT_EQ(caches[1].sharers, 1);
    EXPECT_EQ(caches[2].bytes, 105u << 20);
    EXPECT_EQ(caches[2].sharers, 64);
    EXPECT_TRUE(cpuCaches(folder_ / "nowhere").empty());
}

TEST_F(CeilingsTest, LevelsAreThoseOfTheCaches) {
    EXPECT_TRUE(measureCpuLevels({}, 2).empty());
    const auto levels = measureCpuLevels({{1, 32u << 10, 1}, {2, 1u << 20, 2}}, 2);
    ASSERT_EQ(levels.size(), 2u);
    EXPECT_EQ(levels[0].name, "L1");
    EXPECT_EQ(levels[0].bytes, 64u << 10); // one for each of both threads
    EXPECT_GT(levels[0].bytesPerSecond, 1e9);
    EXPECT_EQ(levels[1].name, "L2");
    EXPECT_EQ(levels[1].bytes, 1u << 20); // shared by both
    EXPECT_GT(levels[1].bytesPerSecond, 1e9);
}

} // namespace
