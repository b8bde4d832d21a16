// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.h"
#include "core/export/extension.h"
#include "tests/source_dir.h"

#include <gtest/gtest.h>

namespace cuda_agent::exporter {

/// The candidate of tests/data/export/mixed, as a session on that device would hand it over.
inline Source mixedSource(device::Kind device = device::Kind::cpu) {
    const std::filesystem::path folder = testData() / "export/mixed";
    Source source;
    source.task = "mixed";
    source.text = readTextFile(folder / "task.py").value();
    source.device = device;
    source.deviceName = device == device::Kind::cuda ? "NVIDIA H200" : "a processor";
    source.architecture = device == device::Kind::cuda ? "sm_90" : "x86_64";
    source.plan = plan::planFromJson(readJsonFile(folder / "plan.json").value()).value();
    source.kernels["kernels/softmax.cu"] = readTextFile(folder / "kernels/softmax.cu").value();
    const auto port = [](const char *name, Shape shape, int index = -1) {
        return task::Port{name, contiguousType(DType::float32, std::move(shape)), index};
    };
    auto &description = source.description;
    description.name = "mixed";
    description.inputs = {port("in0", {6, 40}, 0)};
    description.scalars = {nullptr, 1.5, nullptr};
    description.parameters = {port("layers.0.weight", {7, 40}), port("layers.0.bias", {7}),
                              port("filter.weight", {2, 1, 3})};
    description.outputs = {port("out0", {6, 7}), port("out1", {6, 40}), port("out2", {6, 2, 38}),
                           port("out3", {6, 7, 1})};
    description.singleOutput = false;
    source.verdict = {{"correct", true},
                      {"reward", 3},
                      {"strength", "full"},
                      {"numerics", "default"},
                      {"flags", {"throttled"}}};
    source.verdict["times"]["candidate"] = {{"seconds", 2e-3}, {"low", 1.9e-3}, {"high", 2.1e-3}};
    source.verdict["times"]["compile"] = {{"seconds", 3e-3}, {"low", 2.8e-3}, {"high", 3.3e-3}};
    return source;
}

inline bool contains(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}

} // namespace cuda_agent::exporter
