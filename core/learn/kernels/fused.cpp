// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/kernels/fused.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

namespace cuda_agent::learn::fused {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using Tensors = torch::autograd::variable_list;

void keep(AutogradContext *context, const KernelsPointer &kernels, Tensors tensors) {
    context->save_for_backward(std::move(tensors));
    context->saved_data["kernels"] = at::IValue::make_capsule(kernels);
    context->set_materialize_grads(false); // what is not needed stays undefined
}

KernelsPointer kernelsOf(AutogradContext *context) {
    return c10::static_intrusive_pointer_cast<Kernels>(context->saved_data["kernels"].toCapsule());
}

struct RmsNorm : Function<RmsNorm> {
    static at::Tensor forward(AutogradContext *context, const KernelsPointer &kernels,
                              const at::Tensor &x, const at::Tensor &weight) {
        keep(context, kernels, {x, weight});
        return kernels->rmsNorm(x, {}, weight).first;
    }
    static Tensors backward(AutogradContext *context, const Tensors &gradients) {
        if (!gradients[0].defined())
            return {{}, {}, {}};
        const auto saved = context->get_saved_variables();
        const auto [x, weight] =
            kernelsOf(context)->rmsNormBackward(gradients[0], {}, saved[0], saved[1]);
        return {{}, x, weight};
    }
};

struct AddRmsNorm : Function<AddRmsNorm> {
    static Tensors forward(AutogradContext *context, const KernelsPointer &kernels,
                           const at::Tensor &x, const at::Tensor &residual,
                           const at::Tensor &weight) {
        const auto [normed, sum] = kernels->rmsNorm(x, residual, weight);
        keep(context, kernels, {sum, weight});
        return {sum, normed};
    }
    static Tensors backward(AutogradContext *context, const Tensors &gradients) {
        const auto &ofSum = gradients[0], &ofNormed = gradients[1];
        if (!ofNormed.defined())
            return {{}, ofSum, ofSum, {}};
        const auto saved = context->get_saved_variables();
        const auto [both, weight] =
            kernelsOf(context)->rmsNormBackward(ofNormed, ofSum, saved[0], saved[1]);
        return {{}, both, both, weight};
    }
};

struct QkvRope : Function<QkvRope> {
    static Tensors forward(AutogradContext *context, const KernelsPointer &kernels,
                           const at::Tensor &packed, const at::Tensor &queryWeight,
                           const at::Tensor &keyWeight, const at::Tensor &cos,
                           const at::Tensor &sin, const std::optional<at::Tensor> &positions) {
        const auto places = positions.value_or(at::Tensor());
        keep(context, kernels, {packed, queryWeight, keyWeight, cos, sin, places});
        const auto made = kernels->qkvRope(packed, {queryWeight, keyWeight, cos, sin, places});
        return {made[0], made[1], made[2]};
    }
    static Tensors backward(AutogradContext *context, const Tensors &gradients) {
        const auto saved = context->get_saved_variables();
        const auto made = kernelsOf(context)->qkvRopeBackward(
            {gradients[0], gradients[1], gradients[2]}, saved[0],
            {saved[1], saved[2], saved[3], saved[4], saved[5]});
        return {{}, made[0], made[1], made[2], {}, {}, {}};
    }
};

struct SwiGlu : Function<SwiGlu> {
    static at::Tensor forward(AutogradContext *context, const KernelsPointer &kernels,
                              const at::Tensor &both) {
        keep(context, kernels, {both});
        return kernels->swiGlu(both);
    }
    static Tensors backward(AutogradContext *context, const Tensors &gradients) {
        if (!gradients[0].defined())
            return {{}, {}};
        return {
            {},
            kernelsOf(context)->swiGluBackward(gradients[0], context->get_saved_variables()[0])};
    }
};

struct CrossEntropy : Function<CrossEntropy> {
    static at::Tensor forward(AutogradContext *context, const KernelsPointer &kernels,
                              const at::Tensor &logits, const at::Tensor &targets) {
        const auto [loss, logSums] = kernels->crossEntropy(logits, targets);
        keep(context, kernels, {logits, targets, logSums});
        return loss;
    }
    static Tensors backward(AutogradContext *context, const Tensors &gradients) {
        if (!gradients[0].defined())
            return {{}, {}, {}};
        const auto saved = context->get_saved_variables(); // throws where they were written over
        const auto logits = saved[0].detach();
        kernelsOf(context)->crossEntropyBackward(logits, saved[1], saved[2], gradients[0]);
        saved[0].unsafeGetTensorImpl()->bump_version();
        return {{}, logits, {}};
    }
};

struct LinearCrossEntropy : Function<LinearCrossEntropy> {
    static at::Tensor forward(AutogradContext *context, const KernelsPointer &kernels,
                              const at::Tensor &hidden, const at::Tensor &weight,
                              const at::Tensor &targets, const at::Tensor &weights,
                              std::int64_t chunk, bool learns) {
        const auto tokens = targets.numel(), vocabulary = weight.size(0);
        const auto states = hidden.reshape({tokens, hidden.size(-1)});
        const auto wanted = targets.reshape({tokens}).contiguous();
        const auto shares = weights.reshape({tokens}).contiguous();
        const auto atOnce = std::max<std::int64_t>(chunk > 0 ? std::min(chunk, tokens) : tokens, 1);
        const auto numbers = weights.options().dtype(at::kFloat);
        auto loss = at::zeros({}, numbers);
        auto buffer = at::empty({atOnce, vocabulary}, states.options());
        at::Tensor ofStates, ofWeight;
        if (learns) {
            ofStates = at::empty(states.sizes(), states.options());
            ofWeight = at::zeros(weight.sizes(), numbers); // rounded once, not chunk by chunk
        }
        for (std::int64_t first = 0; first < tokens; first += atOnce) {
            const auto count = std::min(atOnce, tokens - first);
            const auto mine = states.narrow(0, first, count);
            auto logits = buffer.narrow(0, 0, count);
            at::mm_out(logits, mine, weight.t());
            const auto target = wanted.narrow(0, first, count);
            const auto share = shares.narrow(0, first, count);
            const auto [losses, logSums] = kernels->crossEntropy(logits, target);
            loss += at::dot(losses, share);
            if (!learns)
                continue;
            kernels->crossEntropyBackward(logits, target, logSums, share);
            auto to = ofStates.narrow(0, first, count);
            at::mm_out(to, logits, weight);
            ofWeight += at::mm(logits.t(), mine);
        }
        if (learns)
            keep(context, kernels,
                 {ofStates.view(hidden.sizes()), ofWeight.to(weight.scalar_type())});
        return loss;
    }
    static Tensors backward(AutogradContext *context, const Tensors &gradients) {
        if (!gradients[0].defined())
            return {{}, {}, {}, {}, {}, {}, {}};
        const auto saved = context->get_saved_variables();
        return {{}, saved[0] * gradients[0], saved[1] * gradients[0], {}, {}, {}, {}};
    }
};

} // namespace

at::Tensor rmsNorm(const KernelsPointer &kernels, const at::Tensor &x, const at::Tensor &weight) {
    return RmsNorm::apply(kernels, x, weight);
}

AddedAndNormed addRmsNorm(const KernelsPointer &kernels, const at::Tensor &x,
                          const at::Tensor &residual, const at::Tensor &weight) {
    const auto made = AddRmsNorm::apply(kernels, x, residual, weight);
    return {made[0], made[1]};
}

std::array<at::Tensor, 3> qkvRope(const KernelsPointer &kernels, const at::Tensor &packed,
                                  const Kernels::Rotary &rotary) {
    const auto positions =
        rotary.positions.defined() ? std::optional(rotary.positions) : std::nullopt;
    const auto made = QkvRope::apply(kernels, packed, rotary.queryWeight, rotary.keyWeight,
                                     rotary.cos, rotary.sin, positions);
    return {made[0], made[1], made[2]};
}

at::Tensor swiGlu(const KernelsPointer &kernels, const at::Tensor &both) {
    return SwiGlu::apply(kernels, both);
}

at::Tensor crossEntropy(const KernelsPointer &kernels, const at::Tensor &logits,
                        const at::Tensor &targets) {
    return CrossEntropy::apply(kernels, logits.contiguous(), targets.contiguous());
}

at::Tensor linearCrossEntropy(const KernelsPointer &kernels, const at::Tensor &hidden,
                              const at::Tensor &weight, const at::Tensor &targets,
                              const at::Tensor &weights, std::int64_t chunk) {
    const bool learns =
        at::GradMode::is_enabled() && (hidden.requires_grad() || weight.requires_grad());
    return LinearCrossEntropy::apply(kernels, hidden, weight, targets, weights, chunk, learns);
}

} // namespace cuda_agent::learn::fused
