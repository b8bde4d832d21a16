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
        const auto queries = c.heads * c.headSize, keys = c.kvHeads * c.headSize;
        shapes.push_back(
            {ofLayer(i, "qkv"), {queries + 2 * keys, c.hidden}, true, {queries, keys, keys}});
        shapes.push_back({ofLayer(i, "queryNorm"), {c.headSize}, false});
        shapes.push_back({ofLayer(i, "keyNorm"), {c.headSize}, false});
        shapes.push_back({ofLayer(i, "out"), {c.hidden, queries}, true, {c.hidden}});
        shapes.push_back({ofLayer(i, "innerNorm"), {c.hidden}, false});
        shapes.push_back({ofLayer(i, "gateUp"), {2 * c.inner, c.hidden}, true, {c.inner, c.inner}});
        shapes.push_back({ofLayer(i, "down"), {c.hidden, c.inner}, true, {c.hidden}});
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

Documents::Documents(std::vector<std::int64_t> of, std::int64_t batch, std::int64_t length,
                     at::Device device)
    : sizes(std::move(of)) {
    std::vector<at::Tensor> places;
    std::vector<std::int64_t> starts{0};
    for (const auto size : sizes) {
        places.push_back(at::arange(size, at::kLong));
        starts.push_back(starts.back() + size);
        longest = std::max(longest, size);
        wholeRows = wholeRows && size == length;
    }
    positions = at::cat(places).view({batch, length}).to(device);
    begins = at::tensor(starts, at::kInt).to(device);
}

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

Transformer Transformer::copy(Head head) const {
    Transformer other(config_, head, device(), parameters_.values().scalar_type());
    other.kernels_ = kernels_;
    const at::NoGradGuard noGradients;
    for (const auto &parameter : other.parameters_.all())
        if (head == head_ || !parameter.name.starts_with("value"))
            parameter.value.detach().copy_(parameters_.at(parameter.name));
    return other;
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

at::Tensor Transformer::attendedApart(const at::Tensor &query, const at::Tensor &key,
                                      const at::Tensor &value, const Documents &documents) const {
    // All tokens of the batch behind each other: [tokens, heads, head size].
    const auto joined = [](const at::Tensor &states) {
        return states.transpose(1, 2).reshape({-1, states.size(1), states.size(3)});
    };
    const auto q = joined(query), k = joined(key), v = joined(value);
    at::Tensor seen;
    if (q.is_cuda() && q.element_size() == 2) {
        seen = std::get<0>(at::_flash_attention_forward(q, k, v, documents.begins, documents.begins,
                                                        documents.longest, documents.longest, 0.0,
                                                        true, false));
    } else {
        const auto parts = [&](const at::Tensor &states) {
            return states.transpose(0, 1).unsqueeze(0).split_with_sizes(documents.sizes, 2);
        };
        const auto queries = parts(q), keys = parts(k), values = parts(v);
        std::vector<at::Tensor> each;
        for (std::size_t i = 0; i < queries.size(); ++i)
            each.push_back(attended(queries[i], keys[i], values[i], {}, true));
        seen = at::cat(each, 2).squeeze(0).transpose(0, 1);
    }
    return seen.reshape({query.size(0), query.size(2), query.size(1), query.size(3)})
        .transpose(1, 2);
}

at::Tensor Transformer::norm(const at::Tensor &states, const at::Tensor &weight) const {
    if (kernels_)
        return fused::rmsNorm(kernels_, states, weight);
    return at::rms_norm(states, {config_.hidden}, weight, config_.epsilon);
}

fused::AddedAndNormed Transformer::addNorm(const at::Tensor &states, const at::Tensor &more,
                                           const at::Tensor &weight) const {
    if (kernels_)
        return fused::addRmsNorm(kernels_, states, more, weight);
    const auto sum = states + more;
    return {sum, norm(sum, weight)};
}

std::array<at::Tensor, 3> Transformer::split(const at::Tensor &packed, const Layer &weights,
                                             const Places &places) const {
    if (kernels_)
        return fused::qkvRope(kernels_, packed,
                              {weights.queryNorm, weights.keyNorm, cos_, sin_, places.positions});
    const auto parts = packed
                           .view({packed.size(0), packed.size(1),
                                  config_.heads + 2 * config_.kvHeads, config_.headSize})
                           .split_with_sizes({config_.heads, config_.kvHeads, config_.kvHeads}, 2);
    const auto rotated = [&](const at::Tensor &states, const at::Tensor &weight) {
        const auto halves =
            at::rms_norm(states, {config_.headSize}, weight, config_.epsilon).chunk(2, -1);
        return at::cat({halves[0] * places.cos - halves[1] * places.sin,
                        halves[1] * places.cos + halves[0] * places.sin},
                       -1)
            .transpose(1, 2);
    };
    return {rotated(parts[0], weights.queryNorm), rotated(parts[1], weights.keyNorm),
            parts[2].transpose(1, 2)};
}

at::Tensor Transformer::attention(const at::Tensor &normed, std::int64_t layer,
                                  const Places &places, const Attend &attend) const {
    const auto &weights = layers_[static_cast<std::size_t>(layer)];
    const auto [query, key, value] = split(at::linear(normed, weights.qkv), weights, places);
    const auto seen = attend(layer, query, key, value);
    return at::linear(seen.transpose(1, 2).reshape(
                          {normed.size(0), normed.size(1), config_.heads * config_.headSize}),
                      weights.out);
}

at::Tensor Transformer::feedForward(const at::Tensor &normed, const Layer &weights) const {
    const auto both = at::linear(normed, weights.gateUp);
    if (kernels_)
        return at::linear(fused::swiGlu(kernels_, both), weights.down);
    const auto halves = both.chunk(2, -1);
    return at::linear(at::silu(halves[0]) * halves[1], weights.down);
}

at::Tensor Transformer::through(const at::Tensor &tokens, const Places &places,
                                const Attend &attend) const {
    const auto embedded = at::embedding(embedding_, tokens);
    fused::AddedAndNormed states{embedded, norm(embedded, layers_.front().inputNorm)};
    for (std::size_t i = 0; i < layers_.size(); ++i) {
        const auto &weights = layers_[i];
        const auto attended =
            attention(states.normed, static_cast<std::int64_t>(i), places, attend);
        states = addNorm(states.sum, attended, weights.innerNorm);
        const auto &next = i + 1 < layers_.size() ? layers_[i + 1].inputNorm : lastNorm_;
        states = addNorm(states.sum, feedForward(states.normed, weights), next);
    }
    return states.normed;
}

at::Tensor Transformer::hidden(const at::Tensor &tokens) const {
    const auto length = tokens.size(1);
    const Places places{
        cos_.narrow(0, 0, length).unsqueeze(1), sin_.narrow(0, 0, length).unsqueeze(1), {}};
    return through(tokens, places,
                   [&](std::int64_t, const at::Tensor &query, const at::Tensor &key,
                       const at::Tensor &value) { return attended(query, key, value, {}, true); });
}

at::Tensor Transformer::hidden(const at::Tensor &tokens, const Documents &documents) const {
    if (documents.wholeRows)
        return hidden(tokens);
    return hidden(
        tokens, documents.positions,
        [&](std::int64_t, const at::Tensor &query, const at::Tensor &key, const at::Tensor &value) {
            return attendedApart(query, key, value, documents);
        });
}

at::Tensor Transformer::hidden(const at::Tensor &tokens, const at::Tensor &positions,
                               const Attend &attend) const {
    if (kernels_)
        return through(tokens, {{}, {}, positions.contiguous()}, attend);
    const auto at = [&](const at::Tensor &table) {
        return at::embedding(table, positions).unsqueeze(2); // [batch, length, 1, head size / 2]
    };
    return through(tokens, {at(cos_), at(sin_), {}}, attend);
}

at::Tensor Transformer::logits(const at::Tensor &hidden) const {
    return at::linear(hidden, unembedding_);
}

at::Tensor Transformer::weightedCrossEntropy(const at::Tensor &hidden, const at::Tensor &targets,
                                             const at::Tensor &weights) const {
    constexpr std::int64_t chunk = 8192; // tokens whose logits are held at once
    if (kernels_)
        return fused::linearCrossEntropy(kernels_, hidden, unembedding_, targets, weights, chunk);
    const auto all = logits(hidden).to(at::kFloat);
    const auto losses = at::cross_entropy_loss(all.reshape({-1, all.size(-1)}),
                                               targets.reshape({-1}), {}, at::Reduction::None);
    return (losses.view(targets.sizes()) * weights).sum();
}

KernelSizes Transformer::kernelSizes() const {
    const auto &c = config_;
    return {parameters_.values().scalar_type(),
            c.hidden,
            c.heads,
            c.kvHeads,
            c.headSize,
            c.inner,
            c.vocabulary,
            c.epsilon};
}

Result<void> Transformer::useFusedKernels(bool wanted) {
    useKernels({});
    if (!wanted)
        return {};
    if (!device().is_cuda())
        return requestError("the fused kernels need a GPU; set fused = false in the recipe");
    CUDA_AGENT_ASSIGN(kernels, Kernels::onGpu(kernelSizes(), device().index()));
    useKernels(std::move(kernels));
    return {};
}

at::Tensor Transformer::value(const at::Tensor &hidden) const {
    constexpr double middle = (leastValue + mostValue) / 2, reach = (mostValue - leastValue) / 2;
    return at::tanh(at::linear(hidden, valueWeight_, valueBias_).squeeze(-1).to(at::kFloat)) *
               reach +
           middle;
}

} // namespace cuda_agent::learn
