// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/sanitize/cpu_check.h"

#include <gtest/gtest.h>

#include <fstream>

namespace cuda_agent::sanitize {

/// One kernel `k(const float *in, float *out, int n)` under the cpu checks.
class CheckKernel : public testing::Test {
  protected:
    void SetUp() override {
        std::string pattern = (std::filesystem::temp_directory_path() / "check-XXXXXX").string();
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
        std::filesystem::create_directories(folder_ / "kernels");
        auto device = device::openCpu();
        ASSERT_TRUE(device) << device.error().message;
        device_ = std::move(*device);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    struct Shape {
        int n = 256; ///< elements of in0 and out0
        int blocks = 1;
        int threads = 256;
        int shared = 0;      ///< dynamic, bytes
        bool filled = false; ///< out0 is filled with zeros first
    };

    /// The report on that kernel, or what went wrong in `problem_`.
    Report check(const std::string &source, Shape shape) {
        source_ = source;
        problem_.clear();
        std::ofstream(folder_ / "kernels/k.cu") << source;
        Json steps = Json::array();
        if (shape.filled)
            steps.push_back({{"kind", "fill"}, {"buffer", "out0"}, {"value", 0}});
        steps.push_back({{"kind", "kernel"},
                         {"source", "kernels/k.cu"},
                         {"entry", "k"},
                         {"grid", {shape.blocks}},
                         {"block", {shape.threads}},
                         {"shared", shape.shared},
                         {"args", {{{"buffer", "in0"}}, {{"buffer", "out0"}}, {{"int32", "N"}}}}});
        const Json plan{{"version", 1},
                        {"name", "checked"},
                        {"symbols", {{"N", "in0.numel"}}},
                        {"buffers",
                         {{{"name", "in0"}, {"role", "input"}, {"index", 0}},
                          {{"name", "out0"},
                           {"role", "output"},
                           {"index", 0},
                           {"dtype", "float32"},
                           {"shape", {"N"}}}}},
                        {"steps", steps}};
        std::ofstream(folder_ / "plan.json") << plan.dump();
        auto candidate = plan::readCandidate(folder_);
        EXPECT_TRUE(candidate) << candidate.error().message;
        if (!candidate)
            return {};
        const auto type = contiguousType(DType::float32, {shape.n});
        plan::Signature signature;
        signature.inputs = {type};
        signature.outputs = {type};
        const auto bytes = static_cast<std::uint64_t>(shape.n) * sizeof(float);
        auto in = device_->allocate(bytes + 64);
        auto out = device_->allocate(bytes + 64);
        std::vector<float> values(static_cast<std::size_t>(shape.n), 1.5f);
        EXPECT_TRUE(device_->write(*in, 0, values.data(), bytes));
        plan::CallBuffers buffers;
        buffers.inputs = {{&*in, 0, type}};
        buffers.outputs = {{&*out, 0, type}};
        auto report = checkOnCpu(*candidate, signature, *device_, buffers, {});
        if (!report) {
            problem_ = report.error().message;
            ADD_FAILURE() << problem_;
            return {};
        }
        results_.resize(values.size());
        EXPECT_TRUE(device_->read(*out, 0, results_.data(), bytes));
        return *report;
    }

    void expectClean(const std::string &source, Shape shape) {
        const auto report = check(source, shape);
        EXPECT_EQ(report.tools.size(), 1u);
        for (const auto &finding : report.findings)
            ADD_FAILURE() << lineOf(finding);
    }

    /// That the report has a finding of this kind at the first place where `text` stands in the
    /// kernel, and says `words` about it.
    void expectFinding(const Report &report, const std::string &kind, const std::string &text,
                       std::initializer_list<const char *> words = {}) {
        const Place wanted = placeOf(text);
        std::string all;
        for (const auto &finding : report.findings) {
            all += lineOf(finding) + "\n";
            if (finding.kind != kind || !finding.place || finding.place->line != wanted.line)
                continue;
            EXPECT_EQ(finding.place->file, "kernels/k.cu");
            EXPECT_EQ(finding.place->column, wanted.column) << lineOf(finding);
            EXPECT_EQ(finding.tool, "cpu checks");
            for (const char *word : words)
                EXPECT_NE((finding.message + " " + finding.buffer).find(word), std::string::npos)
                    << word << " in " << finding.message;
            return;
        }
        ADD_FAILURE() << "no " << kind << " on line " << wanted.line << " in:\n" << all;
    }

    Place placeOf(const std::string &text) const {
        const auto at = source_.find(text);
        EXPECT_NE(at, std::string::npos) << text;
        Place place{"kernels/k.cu", 1, 1};
        for (std::size_t i = 0; i < at && i < source_.size(); ++i)
            place = source_[i] == '\n' ? Place{place.file, place.line + 1, 1}
                                       : Place{place.file, place.line, place.column + 1};
        return place;
    }

    std::filesystem::path folder_;
    std::unique_ptr<device::Device> device_;
    std::string source_;
    std::string problem_;
    std::vector<float> results_;
};

} // namespace cuda_agent::sanitize
