// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/lowering.h"

namespace cuda_agent::policy {

namespace {

using Views = std::vector<View>;
using task::Node;

DType wide(DType type) {
    return type == DType::float16 || type == DType::bfloat16 ? DType::float32 : type;
}

/// Half loads are widened when read; this only makes the type that results are computed in known.
View widened(Lowering &l, const View &x) {
    const DType type = l.dtypeOf(x);
    return wide(type) == type ? x : l.cast(x, wide(type));
}

struct Normalised {
    View value, mean, scale; ///< (x - mean) * scale, with scale = 1 / sqrt(variance + eps)
};

Normalised normalise(Lowering &l, const View &x, const std::vector<int> &dims, double epsilon) {
    const DType t = l.dtypeOf(x);
    View average;
    const View squares = l.squaredDeviations(x, dims, true, &average);
    const View variance = l.apply("div", {squares, l.count(x, dims, t)}, t);
    const View scale = l.apply("rsqrt", {l.apply("add", {variance, l.constant(epsilon, t)}, t)}, t);
    const View centred = l.apply("sub", {x, average}, t);
    return {l.apply("mul", {centred, scale}, t), average, scale};
}

Result<View> affine(Lowering &l, View x, const Node &node, std::size_t weight, std::size_t bias,
                    const std::function<View(const View &)> &place) {
    const DType t = l.dtypeOf(x);
    if (l.given(node, weight, "weight")) {
        CUDA_AGENT_ASSIGN(w, l.view(node, weight, "weight"));
        x = l.apply("mul", {x, place(w)}, t);
    }
    if (l.given(node, bias, "bias")) {
        CUDA_AGENT_ASSIGN(b, l.view(node, bias, "bias"));
        x = l.apply("add", {x, place(b)}, t);
    }
    return x;
}

/// A per-channel vector placed at dimension 1 of a tensor of that rank.
View channels(const View &vector, std::size_t rank) {
    View result{vector.value, std::vector<Axes>(rank)};
    result.dims[1] = vector.dims.at(0);
    return result;
}

Result<Views> layerNorm(Lowering &l, const Node &node) {
    CUDA_AGENT_ASSIGN(input, l.view(node, 0, "input"));
    const View x = widened(l, input);
    const std::size_t rank = x.dims.size();
    const std::size_t inner = Lowering::integers(node, 1, "normalized_shape").size();
    std::vector<int> dims;
    for (std::size_t d = rank - inner; d < rank; ++d)
        dims.push_back(static_cast<int>(d));
    const Normalised n = normalise(l, x, dims, Lowering::number(node, 4, "eps", 1e-5));
    CUDA_AGENT_ASSIGN(result, affine(l, n.value, node, 2, 3, [](const View &v) { return v; }));
    return Views{result, n.mean, n.scale};
}

Result<Views> groupNorm(Lowering &l, const Node &node) {
    CUDA_AGENT_ASSIGN(input, l.view(node, 0, "input"));
    const View x = widened(l, input);
    const Shape shape = l.shapeOf(x);
    const auto groups = static_cast<std::int64_t>(Lowering::number(node, 6, "group", 1));
    Shape split{shape[0], groups, shape[1] / groups};
    split.insert(split.end(), shape.begin() + 2, shape.end());
    const View grouped = l.reshape(x, split);
    std::vector<int> dims;
    for (std::size_t d = 2; d < split.size(); ++d)
        dims.push_back(static_cast<int>(d));
    const Normalised n = normalise(l, grouped, dims, Lowering::number(node, 7, "eps", 1e-5));
    const View back = l.reshape(n.value, shape);
    const auto place = [&](const View &v) { return channels(v, shape.size()); };
    CUDA_AGENT_ASSIGN(result, affine(l, back, node, 1, 2, place));
    const auto perGroup = [&](View v) {
        v.dims.resize(2);
        return v;
    };
    return Views{result, perGroup(n.mean), perGroup(n.scale)};
}

/// Statistics given: a pointwise formula per channel.
Result<Views> batchNormInference(Lowering &l, const Node &node, double epsilon) {
    CUDA_AGENT_ASSIGN(input, l.view(node, 0, "input"));
    const View x = widened(l, input);
    CUDA_AGENT_ASSIGN(mean, l.view(node, 3, "running_mean"));
    CUDA_AGENT_ASSIGN(variance, l.view(node, 4, "running_var"));
    const DType t = l.dtypeOf(x);
    const std::size_t rank = x.dims.size();
    const View scale = l.apply("rsqrt", {l.apply("add", {variance, l.constant(epsilon, t)}, t)}, t);
    const View centred = l.apply("sub", {x, channels(mean, rank)}, t);
    const View value = l.apply("mul", {centred, channels(scale, rank)}, t);
    const auto place = [&](const View &v) { return channels(v, rank); };
    CUDA_AGENT_ASSIGN(result, affine(l, value, node, 1, 2, place));
    return Views{result};
}

/// Statistics of this batch, over all but the channels.
Result<Views> batchNormStatistics(Lowering &l, const Node &node, double epsilon) {
    CUDA_AGENT_ASSIGN(input, l.view(node, 0, "input"));
    const View x = widened(l, input);
    std::vector<int> dims;
    for (std::size_t d = 0; d < x.dims.size(); ++d) {
        if (d != 1)
            dims.push_back(static_cast<int>(d));
    }
    const Normalised n = normalise(l, x, dims, epsilon);
    const auto place = [&](const View &v) { return channels(v, x.dims.size()); };
    CUDA_AGENT_ASSIGN(result, affine(l, n.value, node, 1, 2, place));
    const auto perChannel = [](const View &v) { return View{v.value, {v.dims.at(1)}}; };
    return Views{result, perChannel(n.mean), perChannel(n.scale)};
}

Result<Views> rmsNorm(Lowering &l, const Node &node) {
    CUDA_AGENT_ASSIGN(input, l.view(node, 0, "input"));
    const View x = widened(l, input);
    const DType t = l.dtypeOf(x);
    const std::size_t inner = Lowering::integers(node, 1, "normalized_shape").size();
    std::vector<int> dims;
    for (std::size_t d = x.dims.size() - inner; d < x.dims.size(); ++d)
        dims.push_back(static_cast<int>(d));
    const double epsilon =
        Lowering::number(node, 3, "eps", t == DType::float32 ? 1.1920928955078125e-07 : 2.2e-16);
    const View average = l.mean(l.apply("mul", {x, x}, t), dims, true);
    const View scale = l.apply("rsqrt", {l.apply("add", {average, l.constant(epsilon, t)}, t)}, t);
    View result = l.apply("mul", {x, scale}, t);
    if (l.given(node, 2, "weight")) {
        CUDA_AGENT_ASSIGN(w, l.view(node, 2, "weight"));
        result = l.apply("mul", {result, w}, t);
    }
    return Views{result, scale};
}

Operator batchNorm(std::size_t epsilonPosition, int trainingPosition) {
    return [epsilonPosition, trainingPosition](Lowering &l, const Node &node) -> Result<Views> {
        const double epsilon = Lowering::number(node, epsilonPosition, "eps", 1e-5);
        if (trainingPosition >= 0 && Lowering::flag(node, trainingPosition, "training", false)) {
            if (l.given(node, 3, "running_mean"))
                return failedError("in training mode, which changes the running statistics");
            return batchNormStatistics(l, node, epsilon);
        }
        return batchNormInference(l, node, epsilon);
    };
}

} // namespace

void addNormalisationOperators(OperatorTable &table) {
    table["aten.native_layer_norm.default"] = layerNorm;
    table["aten.native_group_norm.default"] = groupNorm;
    table["aten._native_batch_norm_legit_no_training.default"] = batchNorm(6, -1);
    table["aten._batch_norm_no_update.default"] = batchNorm(6, -1);
    table["aten.native_batch_norm.default"] = batchNorm(7, 5);
    table["aten._native_batch_norm_legit.default"] = batchNorm(7, 5);
    // (input, weight, bias, training, momentum, eps): what instance norm becomes
    table["aten._native_batch_norm_legit.no_stats"] = [](Lowering &l, const Node &node) {
        return batchNormStatistics(l, node, Lowering::number(node, 5, "eps", 1e-5));
    };
    table["aten.rms_norm.default"] = rmsNorm;
    table["aten._fused_rms_norm.default"] = rmsNorm;
}

} // namespace cuda_agent::policy
