// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/model/transformer.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>

namespace cuda_agent::learn {

namespace {

std::string ofLayer(std::int64_t layer, const char *name) {
    return fmt::format("layers.{}.{}", layer, name);
}

std::vector<Parameters::Shape> shapesOf(const ModelConfig &config, Transformer::Head head) {
    const auto &c = config;
    std::vector<Parameters::Shape> shapes{{"embedding", {c.vocabulary, c.hidden}}};
    for (std::int64_t i = 0; i < c.layers; ++i) {
        shapes.push_back({ofLayer(i, "inputNorm"), {c.hidden}, false});
        shapes.push_back({ofLayer(i, "qkv"), {(c.heads + 2 * c.kvHeads) * c.headSize, c.hidden}});
        shapes.push_back({ofLayer(i, "queryNorm"), {c.headSize}, false});
        shapes.push_back({ofLayer(i, "keyNorm"), {c.headSize}, false});
        shapes.push_back({ofLayer(i, "out"), {c.hidden, c.heads * c.headSize}});
        shapes.push_back({ofLayer(i, "innerNorm"), {c.hidden}, false});
        shapes.push_back({ofLayer(i, "gateUp"), {2 * c.inner, c.hidden}});
        shapes.push_back({ofLayer(i, "down"), {c.hidden, c.inner}});
    }
    shapes.push_back({"lastNorm", {c.hidden}, false});
    if (head == Transformer::Head::value) {
        shapes.push_back({"valueWeight", {1, c.hidden}});
        shapes.push_back({"valueBias", {1}, false});
    } else if (!c.tied) {
        shapes.push_back({"unembedding", {c.vocabulary, c.hidden}});
    }
    return shapes;
}

} // namespace

Transformer::Transformer(const ModelConfig &config, Head head, at::Device device,
                         at::ScalarType type)
    : config_(config), head_(head), parameters_(shapesOf(config, head), device, type) {
    embedding_ = parameters_.at("embedding");
    lastNorm_ = parameters_.at("lastNorm");
    if (head == Head::value) {
        valueWeight_ = parameters_.at("valueWeight");
        valueBias_ = parameters_.at("valueBias");
    } else {
        unembedding_ = config.tied ? embedding_ : parameters_.at("unembedding");
    }
    for (std::int64_t i = 0; i < config.layers; ++i) {
        const auto of = [&](const char *name) { return parameters_.at(ofLayer(i, name)); };
        layers_.push_back({of("inputNorm"), of("qkv"), of("queryNorm"), of("keyNorm"), of("out"),
                           of("innerNorm"), of("gateUp"), of("down")});
    }
    const auto numbers = at::TensorOptions().dtype(at::kFloat);
    const auto exponents =
        at::arange(0, config.headSize, 2, numbers) / static_cast<double>(config.headSize);
    const auto frequencies = at::reciprocal(at::pow(config.ropeTheta, exponents));
    const auto angles = at::outer(at::arange(config.positions, numbers), frequencies);
    cos_ = at::cos(angles).to(device, type);
    sin_ = at::sin(angles).to(device, type);
}

Transformer Transformer::drawn(const ModelConfig &config, Head head, std::uint64_t seed,
                               at::Device device, at::ScalarType type) {
    Transformer model(config, head, device, type);
    const at::NoGradGuard noGradients;
    auto generator = at::make_generator<at::CPUGeneratorImpl>(seed);
    for (const auto &parameter : model.parameters_.all()) {
        if (parameter.name.starts_with("value"))
            continue; // a critic says the middle until it has learned
        auto value = parameter.value.detach();
        if (parameter.decays)
            value.copy_(at::normal(0.0, config.initialRange, parameter.value.sizes(), generator));
        else
            value.fill_(1);
    }
    return model;
}

at::Tensor Transformer::attended(const at::Tensor &query, const at::Tensor &key,
                                 const at::Tensor &value, const at::Tensor &mask,
                                 bool causal) const {
    const auto sharing = config_.heads / config_.kvHeads;
    const auto given = mask.defined() ? std::optional(mask) : std::nullopt;
    // Only the GPU's kernels share keys and values among heads themselves.
    if (sharing > 1 && !query.is_cuda())
        return at::scaled_dot_product_attention(query, key.repeat_interleave(sharing, 1),
                                                value.repeat_interleave(sharing, 1), given, 0.0,
                                                causal);
    return at::scaled_dot_product_attention(query, key, value, given, 0.0, causal, {}, sharing > 1);
}

at::Tensor Transformer::attention(const at::Tensor &normed, std::int64_t layer,
                                  const at::Tensor &cos, const at::Tensor &sin,
                                  const Attend &attend) const {
    const auto &weights = layers_[static_cast<std::size_t>(layer)];
    const auto batch = normed.size(0), length = normed.size(1);
    const auto parts =
        at::linear(normed, weights.qkv)
            .view({batch, length, config_.heads + 2 * config_.kvHeads, config_.headSize})
            .split_with_sizes({config_.heads, config_.kvHeads, config_.kvHeads}, 2);
    const auto rotated = [&](const at::Tensor &states, const at::Tensor &norm) {
        const auto halves =
            at::rms_norm(states, {config_.headSize}, norm, config_.epsilon).chunk(2, -1);
        return at::cat({halves[0] * cos - halves[1] * sin, halves[1] * cos + halves[0] * sin}, -1)
            .transpose(1, 2);
    };
    const auto seen = attend(layer, rotated(parts[0], weights.queryNorm),
                             rotated(parts[1], weights.keyNorm), parts[2].transpose(1, 2));
    return at::linear(
        seen.transpose(1, 2).reshape({batch, length, config_.heads * config_.headSize}),
        weights.out);
}

at::Tensor Transformer::feedForward(const at::Tensor &normed, std::int64_t layer) const {
    const auto &weights = layers_[static_cast<std::size_t>(layer)];
    const auto both = at::linear(normed, weights.gateUp).chunk(2, -1);
    return at::linear(at::silu(both[0]) * both[1], weights.down);
}

at::Tensor Transformer::through(const at::Tensor &tokens, const at::Tensor &cos,
                                const at::Tensor &sin, const Attend &attend) const {
    const auto norm = [&](const at::Tensor &states, const at::Tensor &weight) {
        return at::rms_norm(states, {config_.hidden}, weight, config_.epsilon);
    };
    auto states = at::embedding(embedding_, tokens);
    for (std::int64_t i = 0; i < config_.layers; ++i) {
        const auto &weights = layers_[static_cast<std::size_t>(i)];
        states = states + attention(norm(states, weights.inputNorm), i, cos, sin, attend);
        states = states + feedForward(norm(states, weights.innerNorm), i);
    }
    return norm(states, lastNorm_);
}

at::Tensor Transformer::hidden(const at::Tensor &tokens) const {
    const auto length = tokens.size(1);
    return through(tokens, cos_.narrow(0, 0, length).unsqueeze(1),
                   sin_.narrow(0, 0, length).unsqueeze(1),
                   [&](std::int64_t, const at::Tensor &query, const at::Tensor &key,
                       const at::Tensor &value) { return attended(query, key, value, {}, true); });
}

at::Tensor Transformer::hidden(const at::Tensor &tokens, const at::Tensor &positions,
                               const Attend &attend) const {
    const auto at = [&](const at::Tensor &table) {
        return at::embedding(table, positions).unsqueeze(2); // [batch, length, 1, head size / 2]
    };
    return through(tokens, at(cos_), at(sin_), attend);
}

at::Tensor Transformer::logits(const at::Tensor &hidden) const {
    return at::linear(hidden, unembedding_);
}

at::Tensor Transformer::value(const at::Tensor &hidden) const {
    constexpr double middle = (leastValue + mostValue) / 2, reach = (mostValue - leastValue) / 2;
    return at::tanh(at::linear(hidden, valueWeight_, valueBias_).squeeze(-1).to(at::kFloat)) *
               reach +
           middle;
}

} // namespace cuda_agent::learn
