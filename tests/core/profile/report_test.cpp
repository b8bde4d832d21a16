// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/profile/known_kernels.h"

#include <gtest/gtest.h>

#include <sstream>

namespace cuda_agent::profile {

namespace {

std::vector<std::string> linesOf(const std::string &csv) {
    std::vector<std::string> lines;
    std::istringstream stream(csv);
    for (std::string line; std::getline(stream, line);) {
        EXPECT_TRUE(line.ends_with('\r')) << "lines end as RFC 4180 says";
        lines.push_back(line.substr(0, line.size() - 1));
    }
    return lines;
}

/// The field of that name; none of these has a comma.
std::string fieldOf(const std::string &names, const std::string &line, const std::string &name) {
    std::istringstream head(names), row(line);
    for (std::string key, value; std::getline(head, key, ',') && std::getline(row, value, ',');)
        if (key == name)
            return value;
    return "no such field";
}

} // namespace

TEST(Report, JsonHasWhatIsKnownAndNothingElse) {
    const Report report = known::reportOf({known::copy()});
    const Json json = toJson(report);
    const Json &launch = json["launches"][0];
    EXPECT_EQ(launch["name"], "copy");
    EXPECT_EQ(launch["bytes"]["dram"], 2 * known::bytes);
    EXPECT_EQ(launch["global_loads"]["sectors_per_request"], 16);
    EXPECT_EQ(launch["theoretical_occupancy"]["blocks_per_sm"], 8);
    EXPECT_EQ(launch["stalls"][0]["name"], "long_scoreboard");
    EXPECT_EQ(launch["file"], "kernels/k.cu");
    EXPECT_FALSE(launch["operations"].contains("fp16")) << "not counted";
    EXPECT_FALSE(launch.contains("gap_before"));
    EXPECT_FALSE(launch.contains("cluster"));
    EXPECT_EQ(json["datasheet"]["card"], "NVIDIA H200");
    EXPECT_EQ(json["ceilings"]["copy_bytes_per_second"], 4.24e12);
    EXPECT_EQ(json["findings"][0]["rule"], "dram-bound");
    EXPECT_TRUE(json["findings"][0]["stop"]);
}

TEST(Report, CsvHasALineForEachLaunchAndOneForAll) {
    Launch odd = known::stridedCopy();
    odd.name = "a \"b\", c";
    const Report report = known::reportOf({known::copy(), odd});
    const auto lines = linesOf(toCsv(report));
    ASSERT_EQ(lines.size(), 4u);
    EXPECT_TRUE(lines[0].starts_with("kind,name,step,label,seconds"));
    EXPECT_EQ(fieldOf(lines[0], lines[1], "dram_read"), "268435456");
    EXPECT_EQ(fieldOf(lines[0], lines[1], "load_sectors_per_request"), "16");
    EXPECT_EQ(fieldOf(lines[0], lines[1], "fp16"), "") << "not counted";
    EXPECT_EQ(fieldOf(lines[0], lines[1], "largest_stall"), "long_scoreboard");
    EXPECT_TRUE(lines[2].starts_with("kernel,\"a \"\"b\"\", c\",0,"));
    EXPECT_TRUE(lines[3].starts_with("call,all,"));
    EXPECT_EQ(fieldOf(lines[0], lines[3], "dram_read"), "805306368");
}

} // namespace cuda_agent::profile
