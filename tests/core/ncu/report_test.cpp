// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/ncu/report.h"

#include "core/base/temporary_folder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <random>

using namespace cuda_agent;
using namespace cuda_agent::ncu;

namespace {

const std::string raw =
    "==PROF== Connected to process 4711 (/usr/bin/python3.12)\n"
    "max error 1.2, Kernel Name of my own\n"
    "==PROF== Profiling \"softmax\" - 0: 0%....50%....100% - 8 passes\n"
    "==PROF== Disconnected from process 4711\n"
    R"csv("ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","dram__bytes_read.sum","gpu__time_duration.sum","launch__registers_per_thread","sm__warps_active.avg.pct_of_peak_sustained_active","sm__ops_path_tensor_src_fp16.sum","device__attribute_display_name"
"","","","","","","","","","","","Mbyte","usecond","register/thread","%","",""
"0","4711","python3.12","127.0.0.1","softmax(const float *, float *, int)","1","7","(256, 1, 1)","(1024, 1, 1)","0","9.0","268.44","102.37","40","74.5","n/a","NVIDIA H200"
"1","4711","python3.12","127.0.0.1","gemm<float, ""tn"">","1","7","(128, 1, 1)","(16, 16, 1)","0","9.0","1,024.5","2,345.67","255","12","1,099,511,627,776","NVIDIA H200"
)csv";

const std::string details =
    R"csv("ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value","Rule Name","Rule Type","Rule Description"
"1","1","x","h","second","1","7","(128, 1, 1)","(2, 1, 1)","0","9.0","GPU Speed Of Light Throughput","Duration","ms","1.5","","",""
"0","1","x","h","first","1","7","(256, 1, 1)","(4, 1, 1)","0","9.0","GPU Speed Of Light Throughput","Memory Throughput","%","91.25","","",""
"0","1","x","h","first","1","7","(256, 1, 1)","(4, 1, 1)","0","9.0","GPU Speed Of Light Throughput","","","","SOLBottleneck","OPT","The kernel is ""memory"" bound,
which is fine."
"0","1","x","h","first","1","7","(256, 1, 1)","(4, 1, 1)","0","9.0","Memory Workload Analysis","Memory Throughput","Gbyte/second","3,850.5","","",""
"0","1","x","h","first","1","7","(256, 1, 1)","(4, 1, 1)","0","9.0","Launch Statistics","Function Cache Configuration","","CachePreferNone","","",""
)csv";

double valueOf(const Launch &launch, std::string_view name, std::string_view section = {}) {
    const auto *metric = launch.find(name, section);
    EXPECT_NE(metric, nullptr) << name;
    EXPECT_TRUE(metric && metric->value) << name;
    return metric && metric->value ? *metric->value : -1;
}

std::string problemOf(std::string_view text) {
    const auto report = parseCsv(text);
    if (report)
        return "";
    EXPECT_EQ(report.error().kind, ErrorKind::request);
    return report.error().message;
}

} // namespace

TEST(NcuReport, RawPage) {
    const auto report = parseCsv(raw);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->skippedLines, 4);
    ASSERT_EQ(report->launches.size(), 2u);
    const auto &first = report->launches[0];
    EXPECT_EQ(first.id, 0);
    EXPECT_EQ(first.kernel, "softmax(const float *, float *, int)");
    EXPECT_EQ(first.block, "(256, 1, 1)");
    EXPECT_EQ(first.grid, "(1024, 1, 1)");
    EXPECT_EQ(first.computeCapability, "9.0");
    EXPECT_EQ(first.metrics.size(), 6u);
    EXPECT_DOUBLE_EQ(valueOf(first, "dram__bytes_read.sum"), 268.44e6);
    EXPECT_EQ(first.find("dram__bytes_read.sum")->unit, "byte");
    EXPECT_NEAR(valueOf(first, "gpu__time_duration.sum"), 102.37e-6, 1e-15);
    EXPECT_EQ(first.find("gpu__time_duration.sum")->unit, "second");
    EXPECT_DOUBLE_EQ(valueOf(first, "launch__registers_per_thread"), 40);
    const auto *missing = first.find("sm__ops_path_tensor_src_fp16.sum");
    ASSERT_NE(missing, nullptr);
    EXPECT_FALSE(missing->value);
    EXPECT_EQ(missing->text, "n/a");
    EXPECT_EQ(first.find("device__attribute_display_name")->text, "NVIDIA H200");
    EXPECT_EQ(first.find("Process ID"), nullptr);
    const auto &second = report->launches[1];
    EXPECT_EQ(second.kernel, "gemm<float, \"tn\">");
    EXPECT_DOUBLE_EQ(valueOf(second, "dram__bytes_read.sum"), 1024.5e6);
    EXPECT_NEAR(valueOf(second, "gpu__time_duration.sum"), 2345.67e-6, 1e-12);
    EXPECT_DOUBLE_EQ(valueOf(second, "sm__ops_path_tensor_src_fp16.sum"), 1099511627776.0);
}

TEST(NcuReport, DetailsPage) {
    const auto report = parseCsv(details);
    ASSERT_TRUE(report) << report.error().message;
    ASSERT_EQ(report->launches.size(), 2u);
    const auto &first = report->launches[0]; // by id, not as printed
    EXPECT_EQ(first.kernel, "first");
    EXPECT_EQ(first.metrics.size(), 3u); // a rule is no metric
    // One label, two figures.
    EXPECT_DOUBLE_EQ(valueOf(first, "Memory Throughput"), 91.25);
    EXPECT_DOUBLE_EQ(valueOf(first, "Memory Throughput", "Memory Workload Analysis"), 3850.5e9);
    EXPECT_EQ(first.find("Memory Throughput", "Memory Workload Analysis")->unit, "byte/second");
    EXPECT_EQ(first.find("Memory Throughput", "Occupancy"), nullptr);
    EXPECT_FALSE(first.find("Function Cache Configuration")->value);
    EXPECT_DOUBLE_EQ(valueOf(report->launches[1], "Duration"), 1.5e-3);
}

TEST(NcuReport, WindowsLineEndsAndAByteOrderMark) {
    std::string text = "\xef\xbb\xbf" + details;
    for (std::size_t at = 0; (at = text.find('\n', at)) != text.npos; at += 2)
        text.insert(at, "\r");
    const auto report = parseCsv(text);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->launches.size(), 2u);
    EXPECT_EQ(report->skippedLines, 0);
}

TEST(NcuReport, TablesThatGoOnAndRemarksBetween) {
    const auto head = raw.substr(raw.find("\"ID\""));
    const auto rows = head.substr(0, head.rfind("\"1\",\"4711\""));
    auto later = rows;
    later.replace(later.find("\n\"0\""), 4, "\n\"5\"");
    const auto report = parseCsv(rows + "==WARNING== something\n" + later + "==PROF== done\n");
    ASSERT_TRUE(report) << report.error().message;
    ASSERT_EQ(report->launches.size(), 2u);
    EXPECT_EQ(report->launches[1].id, 5);
    EXPECT_EQ(report->skippedLines, 2);
}

TEST(NcuReport, WithoutALineOfUnits) {
    const auto report = parseCsv("\"ID\",\"Kernel Name\",\"a\"\n\"3\",\"k\",\"7\"\n");
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(valueOf(report->launches[0], "a"), 7);
}

TEST(NcuReport, WhatIsNoTableSaysSo) {
    for (const char *text : {"", "==PROF== Connected\n", "a,b\n1,2\n", "\"ID\",\"Metric Name\"\n"})
        EXPECT_NE(problemOf(text).find("--csv --page raw"), std::string::npos) << text;
    EXPECT_NE(problemOf("ID,Kernel Name,Metric Name\n").find("Metric Value"), std::string::npos);
    EXPECT_NE(problemOf("ID,Kernel Name,m\n0,k\n").find("line 2: 2 fields"), std::string::npos);
    EXPECT_NE(problemOf("ID,Kernel Name,m\n,,\nx,k,1\n").find("'x' is not the number"),
              std::string::npos);
    for (const char *id : {"-1", "1.5", "99999999999", "", "0x1"})
        EXPECT_NE(problemOf(fmt::format("ID,Kernel Name,m\n7,k,2\n{},k,1\n", id)), "") << id;
    EXPECT_NE(problemOf("ID,Kernel Name,m\n0,k,1\n0,k,1\n").find("twice"), std::string::npos);
    EXPECT_NE(problemOf("ID,Kernel Name,m\n0,\"k,1\n").find("does not end"), std::string::npos);
}

TEST(NcuReport, AnyDamageIsAnErrorOrAReport) {
    std::mt19937 random(3);
    int read = 0;
    int refused = 0;
    for (const auto &whole : {raw, details})
        for (int round = 0; round < 2000; ++round) {
            auto text = whole;
            for (int i = 0; i < 3; ++i)
                text[random() % text.size()] = static_cast<char>(random());
            text.resize(text.size() - random() % 50);
            const auto report = parseCsv(text);
            (report ? read : refused) += 1;
            if (report) {
                for (const auto &launch : report->launches)
                    for (const auto &metric : launch.metrics)
                        EXPECT_TRUE(!metric.value || std::isfinite(*metric.value));
            }
        }
    EXPECT_GT(read, 0);
    EXPECT_GT(refused, 0);
}

TEST(NcuReport, FilesAndJson) {
    const auto folder = TemporaryFolder::make("ncu").value();
    const auto file = folder.path() / "run.csv";
    std::ofstream(file) << raw;
    const auto report = readCsv(file);
    ASSERT_TRUE(report) << report.error().message;
    const auto json = toJson(*report);
    EXPECT_EQ(json["launches"][0]["metrics"][0]["name"], "dram__bytes_read.sum");
    EXPECT_DOUBLE_EQ(json["launches"][0]["metrics"][0]["value"].get<double>(), 268.44e6);
    EXPECT_TRUE(json["launches"][0]["metrics"][4]["value"].is_null());
    const auto none = readCsv(folder.path() / "none.csv");
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().kind, ErrorKind::request);
    std::ofstream(file) << "nothing\n";
    EXPECT_NE(readCsv(file).error().message.find("run.csv"), std::string::npos);
}
