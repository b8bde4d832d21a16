// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// Numbers of the graph that were sizes when it was recorded: `sum / x.size(0)` is exported as a
// division by 16384. A plan that has such a number serves tasks of that size alone.

#include "core/policy/planner/lowering.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace cuda_agent::policy {

namespace {

/// Operators whose numbers count; those of views and windows are looked at where they are lowered.
const std::set<std::string> &arithmetic() {
    static const std::set<std::string> operators{"aten.add.Tensor",
                                                 "aten.add.Scalar",
                                                 "aten.sub.Tensor",
                                                 "aten.sub.Scalar",
                                                 "aten.mul.Tensor",
                                                 "aten.mul.Scalar",
                                                 "aten.div.Tensor",
                                                 "aten.div.Scalar",
                                                 "aten.rsub.Scalar",
                                                 "aten.full.default",
                                                 "aten.scalar_tensor.default",
                                                 "aten.pow.Scalar",
                                                 "aten.fmod.Scalar",
                                                 "aten.remainder.Scalar",
                                                 "aten.minimum.default",
                                                 "aten.maximum.default",
                                                 "aten.clamp.default"};
    return operators;
}

/// Sizes below are met by chance in what is worked out from them.
constexpr std::int64_t leastDerived = 8;
constexpr double nearly = 1e-6;

/// Whether the number is that size, one over it, its root or one over that, as sums, means and
/// attention write it.
bool comesFrom(double number, std::int64_t size) {
    const double value = std::abs(number);
    const auto is = [&](double other) {
        return std::abs(other / static_cast<double>(size) - 1) < nearly;
    };
    if (size < 2 || !std::isfinite(value) || value == 0)
        return false;
    return is(value) || (size >= leastDerived &&
                         (is(1 / value) || is(value * value) || is(1 / (value * value))));
}

void visitNumbers(const Json &argument, const std::function<void(double)> &visit) {
    if (argument.is_number())
        visit(argument.get<double>());
    else if (argument.is_array())
        for (const Json &item : argument)
            visitNumbers(item, visit);
}

} // namespace

void Lowering::requireSizesOf(const task::Node &node) {
    if (!arithmetic().contains(node.op))
        return;
    std::set<double> numbers;
    visitNumbers(node.args, [&](double number) { numbers.insert(number); });
    for (const BufferInfo &buffer : program.buffers) {
        if (buffer.role != BufferRole::input)
            continue;
        Shape shape = buffer.shape;
        for (std::size_t d = 0; d < buffer.order.size(); ++d)
            shape[static_cast<std::size_t>(buffer.order[d])] = buffer.shape[d];
        for (std::size_t first = 0; first < shape.size(); ++first) {
            std::int64_t size = 1;
            for (std::size_t last = first; last < shape.size(); ++last) {
                size *= shape[last];
                if (std::ranges::none_of(numbers,
                                         [&](double number) { return comesFrom(number, size); }))
                    continue;
                for (std::size_t d = first; d <= last; ++d)
                    requireText(fmt::format("{}.shape[{}] == {}", buffer.name, d, shape[d]));
            }
        }
    }
}

void Lowering::requireText(const std::string &requirement) {
    auto &all = program.requirements;
    if (std::find(all.begin(), all.end(), requirement) == all.end())
        all.push_back(requirement);
}

} // namespace cuda_agent::policy
