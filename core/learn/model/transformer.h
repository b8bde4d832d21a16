// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/kernels/fused.h"
#include "core/learn/model/config.h"
#include "core/learn/model/safetensors.h"

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <functional>
#include <vector>

namespace cuda_agent::learn {

/// A parameter: a leaf of the autograd graph that is a view of a Parameters' flat buffer.
struct Parameter {
    std::string name; ///< ours: "layers.0.qkv"; files have Hugging Face's names
    at::Tensor value;
    bool decays = true; ///< whether weight decay is for it: not for the weights of norms
    std::vector<std::int64_t> projections = {}; ///< see Parameters::Shape
};

/// All parameters of a model in one buffer, and all their gradients in another, so that zeroing,
/// clipping, averaging over processes and the optimiser are one operation each. Those that decay
/// come first.
class Parameters {
  public:
    /// `shapes` by name in the order in which they are made. Values are zero, gradients are zero
    /// and there. Frees nothing of what was handed out: tensors share the buffers.
    struct Shape {
        std::string name;
        std::vector<std::int64_t> sizes;
        bool decays = true;
        /// Rows of each of the projections whose weights it holds, one below the other; none where
        /// it is no layer's projection.
        std::vector<std::int64_t> projections = {};
    };
    Parameters(const std::vector<Shape> &shapes, at::Device device, at::ScalarType type);

    const std::vector<Parameter> &all() const { return all_; }
    at::Tensor at(const std::string &name) const;              ///< throws std::out_of_range: a bug
    const at::Tensor &values() const { return values_; }       ///< [numbers]
    const at::Tensor &gradients() const { return gradients_; } ///< [numbers], the same type

  private:
    std::vector<Parameter> all_;
    std::map<std::string, at::Tensor> byName_;
    at::Tensor values_, gradients_;
};

/// How the tokens of a batch fall into documents, none of which sees another.
struct Documents {
    /// `sizes`: tokens of one document behind the other, none of which goes over a row's end;
    /// together those of `batch` rows of `length`.
    Documents(std::vector<std::int64_t> sizes, std::int64_t batch, std::int64_t length,
              at::Device device);

    std::vector<std::int64_t> sizes;
    at::Tensor positions; ///< [batch, length] of int64: of a token in its document
    at::Tensor begins; ///< [documents + 1] of int32: among the batch's tokens; last, their number
    std::int64_t longest = 0;
    bool wholeRows = true; ///< each is a row
};

/// A decoder-only Transformer of the Qwen3 family: RMSNorm, rotary positions, grouped-query
/// attention with norms of queries and keys, SwiGLU. Projections that share their input are one
/// parameter. Forward passes may run from several threads unless gradients are asked for.
class Transformer {
  public:
    /// What comes out of the last norm: logits by the embedding (an actor), or one value a token (a
    /// critic: `value_head`, bounded, see value()).
    enum class Head { logits, value };

    /// Weights drawn from a normal distribution of the configuration's range on the CPU, the same
    /// for a seed on every device; norms are 1. The configuration is checked by the caller.
    static Transformer drawn(const ModelConfig &config, Head head, std::uint64_t seed,
                             at::Device device, at::ScalarType type);
    /// From a folder with config.json and model.safetensors, or the shards that
    /// model.safetensors.index.json names: ours, or any dense Qwen3 checkpoint. Weights may be
    /// integers of eight bits with a scale for each row (compressed-tensors' "int-quantized"). A
    /// critic may be loaded from an actor's folder: its head is then zero.
    /// Errors: request: not such a folder; a tensor is missing or has another shape.
    static Result<Transformer> load(const std::filesystem::path &folder, Head head,
                                    at::Device device, at::ScalarType type);
    /// Writes config.json and model.safetensors with Hugging Face's names, in `type`. A critic has
    /// `value_head.weight` and `value_head.bias` besides. Errors: machine.
    Result<void> save(const std::filesystem::path &folder, at::ScalarType type) const;

    /// The same weights in buffers of its own; a critic of an actor has a head that is zero.
    Transformer copy() const { return copy(head_); }
    Transformer copy(Head head) const;

    /// [batch, length] of int64 -> [batch, length, hidden] after the last norm. Every token sees
    /// itself and those before it in its row; positions count from 0.
    at::Tensor hidden(const at::Tensor &tokens) const;
    /// The same where rows hold several documents: a token sees its own one up to itself.
    at::Tensor hidden(const at::Tensor &tokens, const Documents &documents) const;
    /// What stands in attention's place: of a layer's new queries [batch, heads, length, head size]
    /// and keys and values [batch, kvHeads, length, head size] -> [batch, heads, length, head
    /// size].
    using Attend = std::function<at::Tensor(std::int64_t layer, const at::Tensor &query,
                                            const at::Tensor &key, const at::Tensor &value)>;
    /// The same of tokens at `positions`, [batch, length] of int64, that see what `attend` lets
    /// them.
    at::Tensor hidden(const at::Tensor &tokens, const at::Tensor &positions,
                      const Attend &attend) const;
    /// Scaled dot-product attention with keys and values shared among heads. `mask`: of bool, true
    /// where a query sees a key, broadcast to [batch, heads, queries, keys]; undefined: all, or
    /// with `causal` those up to its own place.
    at::Tensor attended(const at::Tensor &query, const at::Tensor &key, const at::Tensor &value,
                        const at::Tensor &mask, bool causal) const;
    /// [..., hidden] -> [..., vocabulary].
    at::Tensor logits(const at::Tensor &hidden) const;
    /// The sum over tokens of weight times the logits' cross-entropy: hidden [..., hidden], targets
    /// [...] of int64, weights [...] of float -> a scalar of float. To average, divide the weights
    /// rather than the sum: see fused::linearCrossEntropy.
    at::Tensor weightedCrossEntropy(const at::Tensor &hidden, const at::Tensor &targets,
                                    const at::Tensor &weights) const;
    /// [..., hidden] -> [...] of float between the least and the most that a trajectory can return.
    at::Tensor value(const at::Tensor &hidden) const;

    /// What a critic can say: the rewards' range with some room, where tanh still has a slope.
    static constexpr double leastValue = -1.5, mostValue = 3.5;

    /// From now on norms, rotations, SwiGLU and the loss are kernels of the project's own, compiled
    /// for the model's GPU (about a second), or ATen's again. Not during a pass. Errors: request
    /// (the model is not on a GPU, or of sizes that they cannot do), machine.
    Result<void> useFusedKernels(bool wanted);
    /// The same with given ones, which were made for kernelSizes(); none: ATen's.
    void useKernels(fused::KernelsPointer kernels) { kernels_ = std::move(kernels); }
    KernelSizes kernelSizes() const;
    bool isFused() const { return static_cast<bool>(kernels_); }
    const fused::KernelsPointer &kernels() const { return kernels_; } ///< none: ATen's

    const ModelConfig &config() const { return config_; }
    Head head() const { return head_; }
    const Parameters &parameters() const { return parameters_; }
    at::Device device() const { return parameters_.values().device(); }

  private:
    Transformer(const ModelConfig &config, Head head, at::Device device, at::ScalarType type);
    /// Where the tokens stand: cosines and sines that broadcast to [batch, length, heads, head
    /// size / 2], or for the kernels the positions themselves, undefined where they count from 0.
    struct Places {
        at::Tensor cos, sin, positions;
    };
    struct Layer {
        at::Tensor inputNorm, qkv, queryNorm, keyNorm, out, innerNorm, gateUp, down;
    };
    at::Tensor through(const at::Tensor &tokens, const Places &places, const Attend &attend) const;
    /// Of one layer: [batch, length, hidden] -> the same.
    at::Tensor attention(const at::Tensor &normed, std::int64_t layer, const Places &places,
                         const Attend &attend) const;
    /// As attended() with `causal`, of each document by itself.
    at::Tensor attendedApart(const at::Tensor &query, const at::Tensor &key,
                             const at::Tensor &value, const Documents &documents) const;
    at::Tensor feedForward(const at::Tensor &normed, const Layer &weights) const;
    at::Tensor norm(const at::Tensor &states, const at::Tensor &weight) const;
    /// Adds to the states and norms them.
    fused::AddedAndNormed addNorm(const at::Tensor &states, const at::Tensor &more,
                                  const at::Tensor &weight) const;
    /// Queries, keys and values of the packed projection.
    std::array<at::Tensor, 3> split(const at::Tensor &packed, const Layer &weights,
                                    const Places &places) const;

    ModelConfig config_;
    Head head_;
    Parameters parameters_;
    at::Tensor embedding_, lastNorm_, unembedding_, valueWeight_, valueBias_;
    std::vector<Layer> layers_;
    at::Tensor cos_, sin_; ///< [positions, head size / 2]
    fused::KernelsPointer kernels_;
};

} // namespace cuda_agent::learn
