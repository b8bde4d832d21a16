// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/resolve.h"

#include <cmath>
#include <limits>

namespace cuda_agent::plan {

namespace {

// CUDA C++ Programming Guide, technical specifications per compute capability.
constexpr std::int64_t maxGrid[3] = {2147483647, 65535, 65535};
constexpr std::int64_t maxBlock[3] = {1024, 1024, 64};

Result<double> scalarInput(const Argument &argument, const std::string &path,
                           const Signature &signature) {
    const int position = std::stoi(argument.scalar.substr(2));
    const auto found = signature.scalars.find(position);
    if (found == signature.scalars.end())
        return requestError("{}: get_inputs() has no number at position {}", path, position);
    return found->second;
}

Result<std::int64_t> integerArgument(const Argument &argument, const std::string &path,
                                     const Signature &signature, const Values &values) {
    const bool narrow = argument.kind == Argument::Kind::int32;
    const std::int64_t low = narrow ? std::numeric_limits<std::int32_t>::min()
                                    : std::numeric_limits<std::int64_t>::min();
    const std::int64_t high = narrow ? std::numeric_limits<std::int32_t>::max()
                                     : std::numeric_limits<std::int64_t>::max();
    if (argument.scalar.empty())
        return evaluateWithin(argument.value, values, path, low, high);
    CUDA_AGENT_ASSIGN(number, scalarInput(argument, path, signature));
    const double limit = narrow ? 2147483648.0 : 9.2e18;
    if (!(std::floor(number) == number) || number < -limit || number >= limit)
        return requestError("{}: {} of get_inputs() is {}, which is no {}", path, argument.scalar,
                            number, narrow ? "int32" : "int64");
    return static_cast<std::int64_t>(number);
}

} // namespace

Result<ResolvedKernel> resolveKernel(const KernelStep &step, const std::string &path,
                                     const Signature &signature, const LaunchLimits &limits,
                                     const Values &values) {
    ResolvedKernel kernel{};
    std::int64_t threads = 1;
    for (int i = 0; i < 3; ++i) {
        CUDA_AGENT_ASSIGN(grid, evaluateWithin(step.grid[i], values,
                                               fmt::format("{}.grid[{}]", path, i), 1, maxGrid[i]));
        CUDA_AGENT_ASSIGN(block,
                          evaluateWithin(step.block[i], values,
                                         fmt::format("{}.block[{}]", path, i), 1, maxBlock[i]));
        kernel.grid[i] = static_cast<std::uint32_t>(grid);
        kernel.block[i] = static_cast<std::uint32_t>(block);
        threads *= block;
        if (grid % step.cluster[i] != 0)
            return requestError("{}.cluster[{}]: the grid of {} blocks cannot be divided by {}",
                                path, i, grid, step.cluster[i]);
    }
    if (threads > limits.maxThreadsPerBlock)
        return requestError("{}.block: {} threads; at most {} are allowed", path, threads,
                            limits.maxThreadsPerBlock);
    const int clusterBlocks = step.cluster[0] * step.cluster[1] * step.cluster[2];
    if (clusterBlocks > std::max(limits.maxClusterBlocks, 1)) {
        if (limits.maxClusterBlocks <= 1)
            return requestError("{}.cluster: this device has no thread block clusters", path);
        return requestError("{}.cluster: {} blocks; at most {} are allowed", path, clusterBlocks,
                            limits.maxClusterBlocks);
    }
    CUDA_AGENT_ASSIGN(shared, evaluateWithin(step.shared, values, path + ".shared", 0,
                                             static_cast<std::int64_t>(limits.maxSharedBytes)));
    kernel.sharedBytes = static_cast<std::uint32_t>(shared);

    for (std::size_t i = 0; i < step.arguments.size(); ++i) {
        const Argument &argument = step.arguments[i];
        const std::string where = fmt::format("{}.args[{}]", path, i);
        std::int64_t integer = 0;
        double number = 0;
        if (argument.kind == Argument::Kind::int32 || argument.kind == Argument::Kind::int64) {
            CUDA_AGENT_ASSIGN(value, integerArgument(argument, where, signature, values));
            integer = value;
        } else if (argument.kind != Argument::Kind::buffer) {
            number = argument.number;
            if (!argument.scalar.empty()) {
                CUDA_AGENT_ASSIGN(value, scalarInput(argument, where, signature));
                number = value;
            }
        }
        kernel.integers.push_back(integer);
        kernel.numbers.push_back(number);
    }
    return kernel;
}

} // namespace cuda_agent::plan
