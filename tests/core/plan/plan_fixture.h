// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/plan.h"

#include <gtest/gtest.h>

namespace cuda_agent::plan {

/// A complete plan over two inputs and a parameter, with every kind of step but convolution.
inline Json examplePlan() {
    return Json::parse(R"json({
      "version": 1,
      "name": "row softmax",
      "symbols": {"R": "in0.shape[0]", "N": "in0.shape[1]", "BLOCKS": "cdiv(R, ROWS)", "ROWS": 8},
      "requires": ["N % 4 == 0"],
      "buffers": [
        {"name": "in0", "role": "input", "index": 0, "dtype": "float32"},
        {"name": "w", "role": "parameter", "key": "ln.weight"},
        {"name": "out0", "role": "output", "index": 0, "dtype": "float32", "shape": ["R", "N"]},
        {"name": "part", "role": "scratch", "dtype": "float32", "shape": ["BLOCKS"]}],
      "steps": [
        {"kind": "fill", "buffer": "part", "value": 0},
        {"kind": "kernel", "source": "kernels/softmax.cu", "entry": "softmax_rows",
         "grid": ["BLOCKS", 1, 1], "block": [256, 1, 1], "shared": "N*4",
         "args": [{"buffer": "in0"}, {"buffer": "out0"}, {"buffer": "part"}, {"int32": "N"},
                  {"int64": "R"}, {"float32": 1e-5}, {"float32": {"input": 1}}]},
        {"kind": "gemm", "a": "in0", "b": "w", "c": "out0", "m": "R", "n": "N", "k": "N"}],
      "defines": {"VEC": "4"}})json");
}

inline Signature exampleSignature(std::int64_t rows = 20, std::int64_t columns = 64) {
    Signature signature;
    signature.inputs = {contiguousType(DType::float32, {rows, columns})};
    signature.parameters = {{"ln.weight", contiguousType(DType::float32, {columns, columns})}};
    signature.outputs = {contiguousType(DType::float32, {rows, columns})};
    signature.scalars = {{1, 0.5}};
    return signature;
}

/// The message of the plan's error, or empty when it parses.
inline std::string parseProblem(const Json &json) {
    const auto plan = planFromJson(json);
    if (plan)
        return "";
    EXPECT_EQ(plan.error().kind, ErrorKind::request);
    return plan.error().message;
}

/// The message of the first error of parsing or resolving, or empty.
inline std::string resolveProblem(const Json &json, const Signature &signature,
                                  const LaunchLimits &limits = {}) {
    const auto plan = planFromJson(json);
    EXPECT_TRUE(plan) << plan.error().message;
    if (!plan)
        return "did not parse";
    const auto resolved = resolve(*plan, signature, limits);
    if (resolved)
        return "";
    EXPECT_EQ(resolved.error().kind, ErrorKind::request);
    return resolved.error().message;
}

} // namespace cuda_agent::plan

#define EXPECT_MENTIONS(text, part)                                                                \
    EXPECT_NE(std::string(text).find(part), std::string::npos) << "got: " << (text)
