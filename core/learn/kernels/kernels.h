// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/kernels/launcher.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <array>

namespace cuda_agent::learn {

/// What is compiled into the kernels of one model. Names as in ModelConfig.
struct KernelSizes {
    at::ScalarType type = at::kBFloat16; ///< of activations and weights: that or float
    std::int64_t hidden = 0, heads = 0, kvHeads = 0, headSize = 0, inner = 0, vocabulary = 0;
    double epsilon = 1e-6;
    /// For the compiler.
    std::map<std::string, std::string> defines() const;
};
/// Errors: request, for sizes whose rows are not whole accesses of 16 bytes, or too wide for a
/// row to be held in registers (hidden up to 1024).
Result<void> check(const KernelSizes &sizes);

/// The memory-bound parts of a Transformer as one kernel each, forward and backward, without
/// autograd: fused.h has them with it. All tensors are on the launcher's device, in the sizes' type
/// unless said otherwise; those that come in may have any strides, those that go out are
/// contiguous. Arithmetic is in float. Same inputs, same bits: nothing is added by atomics.
/// Any thread may call. Throws c10::Error: other shapes or types, a launch that fails.
class Kernels : public torch::CustomClassHolder {
  public:
    /// The sizes are checked by the caller, and those that the launcher was compiled for.
    Kernels(const KernelSizes &sizes, std::shared_ptr<const Launcher> launcher);
    /// Compiled for the GPU of this number. Errors: request (check), machine (cudaLauncher).
    static Result<c10::intrusive_ptr<Kernels>> onGpu(const KernelSizes &sizes, int device);

    const KernelSizes &sizes() const { return sizes_; }

    /// x [..., hidden], weight [hidden] -> the normed rows. With a residual, of x's shape, rows of
    /// x + residual are normed, rounded to the type, and are given second.
    std::pair<at::Tensor, at::Tensor> rmsNorm(const at::Tensor &x, const at::Tensor &residual,
                                              const at::Tensor &weight) const;
    /// Gradients of what was normed, with `more` added where that is defined, and of the weight.
    std::pair<at::Tensor, at::Tensor> rmsNormBackward(const at::Tensor &gradient,
                                                      const at::Tensor &more, const at::Tensor &x,
                                                      const at::Tensor &weight) const;

    /// What norms and rotates queries and keys.
    struct Rotary {
        at::Tensor queryWeight, keyWeight; ///< [headSize]
        at::Tensor cos, sin;               ///< [positions, headSize / 2]
        at::Tensor positions;              ///< [batch, length] of int64; undefined: from 0
    };
    /// [batch, length, (heads + 2 * kvHeads) * headSize] -> queries, keys, values, each a
    /// [batch, its heads, length, headSize] that lies as [batch, length, its heads, headSize].
    std::array<at::Tensor, 3> qkvRope(const at::Tensor &packed, const Rotary &rotary) const;
    /// Gradients of the packed projection, of the query's weight and of the key's.
    std::array<at::Tensor, 3> qkvRopeBackward(const std::array<at::Tensor, 3> &gradients,
                                              const at::Tensor &packed, const Rotary &rotary) const;

    /// Keys and values that are kept of what rows have read: one layer's.
    struct Kept {
        at::Tensor keys, values; ///< [rows, kvHeads, context, headSize], contiguous
    };
    /// Attention of new tokens of some rows of those kept. `query` [tokens, heads, headSize], `key`
    /// and `value` [tokens, kvHeads, headSize]: the tokens'; `rows` and `places`, both [tokens] of
    /// int64: token i is the one at places[i] < context of row rows[i], where its key and value are
    /// put. Those of the same row stand side by side, their places one after the other; a negative
    /// row is no token: its output is 0. The numbers are on the device and not looked at here. ->
    /// [tokens, heads, headSize]. What comes of a token does not depend on other rows.
    at::Tensor attendStep(const at::Tensor &query, const at::Tensor &key, const at::Tensor &value,
                          const Kept &kept, const at::Tensor &rows, const at::Tensor &places) const;

    /// [..., 2 * inner] -> silu of the first half times the second, [..., inner].
    at::Tensor swiGlu(const at::Tensor &both) const;
    at::Tensor swiGluBackward(const at::Tensor &gradient, const at::Tensor &both) const;

    /// logits [..., vocabulary], targets [...] of int64 -> cross-entropy and log(sum(exp)), both
    /// [...] of float. A negative target has the loss 0.
    std::pair<at::Tensor, at::Tensor> crossEntropy(const at::Tensor &logits,
                                                   const at::Tensor &targets) const;
    /// Writes the gradients over the logits, which are contiguous: the softmax, less 1 at the
    /// target, times the row's number in `weights`, [...] of float.
    void crossEntropyBackward(const at::Tensor &logits, const at::Tensor &targets,
                              const at::Tensor &logSums, const at::Tensor &weights) const;

  private:
    template <typename... Arguments>
    void launch(const char *entry, Launcher::Grid grid, std::uint32_t threads,
                Arguments... arguments) const;
    at::Tensor columnSums(const at::Tensor &partial) const; ///< [sets, blocks, columns]
    /// As it is, or a copy that is contiguous and begins at a multiple of 16 bytes.
    at::Tensor whole(const at::Tensor &tensor, std::int64_t columns) const;
    std::uint32_t blocksFor(std::int64_t items, std::int64_t itemsOfBlock) const;

    KernelSizes sizes_;
    std::shared_ptr<const Launcher> launcher_;
    std::int64_t width_; ///< elements of 16 bytes
};

} // namespace cuda_agent::learn
