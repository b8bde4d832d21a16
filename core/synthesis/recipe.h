// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.h"
#include "core/device/device.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace cuda_agent::synthesis {

/// What a set of tasks is made by: a TOML file and a seed. Times in seconds, sizes in bytes.
struct Recipe {
    std::string name = "tasks";
    std::uint64_t seed = 1;
    std::size_t tasks = 1000; ///< wanted
    device::Kind device = device::Kind::cpu;

    double leastSeconds = 1e-3, mostSeconds = 0.1; ///< of an eager call
    /// Of one task in the filter, everything counted; proposals keep within it by estimate.
    std::uint64_t memoryBytes = 2ull << 30;

    /// Where candidates come from: "torch" (one operator), "composed" (a chain of operators),
    /// "expressions" (formulas over several tensors), "views" (chains that move elements),
    /// "transformers", "endpoint".
    std::map<std::string, double> sources{{"torch", 1}, {"composed", 8}, {"transformers", 1}};
    std::map<std::string, double> operators{{"2", 3}, {"3", 3}, {"4", 2}, {"5", 2}};
    std::map<std::string, double> dtypes{{"float32", 6}, {"bfloat16", 2}, {"float16", 2}};
    double backward = 0.1;  ///< probability that a composed task differentiates
    double irregular = 0.2; ///< of inputs that are not contiguous
    double even = 0.4;      ///< of drawing an operator regardless of how common it is
    double skips = 0.5;     ///< of an earlier value as a second operand, where one fits

    double similarity = 0.9; ///< to the benchmark or to an earlier candidate: more is refused
    int variants = 4;        ///< tasks that differ in numbers and element types only

    int timedCalls = 5;
    double loadSeconds = 30, checkSeconds = 60, compileSeconds = 120; ///< before it is given up
    int candidatesPerProcess = 200; ///< compiled ones; checks and times wear it out less

    /// Shares of the tasks: with pairs of successive operator families that no other part has; with
    /// operator kinds that no other part has; drawn from the rest.
    double heldOut = 0.08, outer = 0.05, validation = 0.03;
    int audited = 300; ///< tasks of the set that are run once more at the end

    int endpointAttempts = 3; ///< for one candidate
};

/// Reads a recipe. Errors: request, one line that names the field.
Result<Recipe> readRecipe(const std::filesystem::path &file);
/// As a folder of a synthesis keeps it; the same text for the same recipe.
Json toJson(const Recipe &recipe);

} // namespace cuda_agent::synthesis
