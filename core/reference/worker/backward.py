# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators of backward passes as the simpler operators that they stand for."""

import torch
from torch._decomp import core_aten_decompositions, decomposition_table

aten = torch.ops.aten


def convolution_backward(grad, x, weight, bias_sizes, stride, padding, dilation, transposed,
                         output_padding, groups, output_mask):
    """The adjoint convolutions of torch.nn.grad."""
    count = x.dim() - 2
    stride, padding, dilation = (list(values) * count if len(values) == 1 else list(values)
                                 for values in (stride, padding, dilation))
    kernel, none = weight.shape[2:], [0] * count
    grads = [None, None, None]
    if output_mask[0] and transposed:
        grads[0] = aten.convolution(grad, weight, None, stride, padding, dilation, False, none,
                                    groups)
    elif output_mask[0]:
        rest = [x.shape[2 + i] + 2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1 -
                (grad.shape[2 + i] - 1) * stride[i] for i in range(count)]
        grads[0] = aten.convolution(grad, weight, None, stride, padding, dilation, True, rest,
                                    groups)
    if output_mask[1]:
        over, of = (grad, x) if transposed else (x, grad)
        gradient = _depthwise_weight_gradient if over.shape[1] == groups else _weight_gradient
        grads[1] = gradient(over, of, kernel, stride, padding, dilation, groups)
    if output_mask[2]:
        grads[2] = grad.sum([0, *range(2, 2 + count)])
    return tuple(grads)


def _weight_gradient(x, grad, kernel, stride, padding, dilation, groups):
    """[channels of grad, channels of x / groups, *kernel]: the convolution of x with grad where batch
    and channels change places, and so do stride and dilation. The groups' images lie one behind
    the other in the place of channels."""
    batch, *places = x.shape[0], *x.shape[2:]
    channels = x.shape[1] // groups
    images = x.reshape(batch, groups, channels, *places).permute(2, 1, 0, *range(3, x.dim() + 1))
    wide = aten.convolution(images.reshape(channels, groups * batch, *places),
                            grad.transpose(0, 1), None, dilation, padding, stride, False,
                            [0] * len(kernel), groups).transpose(0, 1)
    for i, extent in enumerate(kernel):
        wide = aten.slice(wide, 2 + i, 0, extent)
    return wide


def _depthwise_weight_gradient(x, grad, kernel, stride, padding, dilation, groups):
    """The same where a group has one channel of x: sums over the places of grad, not a convolution
    whose kernel is as large as an image."""
    wide = torch.promote_types(x.dtype, torch.float32)
    count = len(kernel)
    windows = aten.constant_pad_nd(x.to(wide), [size for one in reversed(padding) for size in (one, one)])
    for i, extent in enumerate(kernel):
        windows = windows.unfold(2 + i, dilation[i] * (extent - 1) + 1, stride[i])
        windows = aten.slice(windows, 2 + i, 0, grad.shape[2 + i])
        windows = aten.slice(windows, -1, 0, None, dilation[i])
    grads = grad.to(wide).unflatten(1, (groups, -1))[(..., *[None] * count)]
    sums = (windows.unsqueeze(2) * grads).sum([0, *range(3, 3 + count)])
    return sums.flatten(0, 1).unsqueeze(1).to(x.dtype)


def attention_backward(grad, query, key, value, bias, causal, scale):
    """Gradients of query, key, value and bias (None without one): the formulas of FlashAttention
    (Dao et al., 2022, appendix B.2) on whole matrices, in single precision at least."""
    if query.shape[1] != key.shape[1]:
        return NotImplemented  # heads that share keys
    narrow = query.dtype
    wide = torch.promote_types(narrow, torch.float32)
    grad, q, k, v = (tensor.to(wide) for tensor in (grad, query, key, value))
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    scores = q @ k.transpose(-2, -1) * scale
    if bias is not None:
        scores = scores + bias
    if causal:
        rows = torch.arange(scores.shape[-2], device=scores.device)
        columns = torch.arange(scores.shape[-1], device=scores.device)
        scores = torch.where(columns <= rows[:, None], scores, -float("inf"))
    powers = torch.exp(scores - scores.amax(-1, keepdim=True))
    # As in the kernels, what is masked, or stands beside an infinite score, has no weight.
    none = (powers == 0) | (scores == -float("inf"))
    weights = torch.where(none, 0.0, powers / powers.sum(-1, keepdim=True))
    of_weights = grad @ v.transpose(-2, -1)
    of_scores = weights * (of_weights - (of_weights * weights).sum(-1, keepdim=True))
    of_bias = None if bias is None else of_scores.sum_to_size(bias.shape).to(bias.dtype)
    return ((of_scores @ k * scale).to(narrow), (of_scores.transpose(-2, -1) @ q * scale).to(narrow),
            (weights.transpose(-2, -1) @ grad).to(narrow), of_bias)


def _attention(dropout, *arguments):
    """Those of query, key, value and bias; what dropout drew cannot be drawn again."""
    return NotImplemented if dropout else attention_backward(*arguments)


def _first_three(found):
    return found if found is NotImplemented else found[:3]


def _attention_on_cpu(grad, query, key, value, out, logsumexp, dropout, causal, *, attn_mask=None,
                      scale=None):
    return _first_three(_attention(dropout, grad, query, key, value, attn_mask, causal, scale))


def _flash_attention(grad, query, key, value, out, logsumexp, cum_seq_q, cum_seq_k, max_q, max_k,
                     dropout, causal, philox_seed, philox_offset, *, scale=None):
    return _first_three(_attention(dropout, grad, query, key, value, None, causal, scale))


def _efficient_attention(grad, query, key, value, bias, out, logsumexp, philox_seed, philox_offset,
                         dropout, wanted, causal=False, *, scale=None):
    found = _attention(dropout, grad, query, key, value, bias, causal, scale)
    return found if found is NotImplemented else tuple(
        each if asked else None for each, asked in zip(found, wanted))


def _cudnn_attention(grad, query, key, value, out, logsumexp, philox_seed, philox_offset, bias,
                     cum_seq_q, cum_seq_k, max_q, max_k, dropout, causal, *, scale=None):
    return _first_three(_attention(dropout, grad, query, key, value, bias, causal, scale))


def lstm_cell_backward(grad_hy, grad_cy, cx, cy, workspace, has_bias):
    """Of gates, cell and bias, from the activated gates in the workspace."""
    enter, forget, cell, leave = workspace.chunk(4, 1)
    squashed = torch.tanh(cy)
    grad_hy = torch.zeros_like(cy) if grad_hy is None else grad_hy
    inner = grad_hy * leave * (1 - squashed * squashed)
    if grad_cy is not None:
        inner = inner + grad_cy
    gates = torch.cat([inner * cell * (1 - enter) * enter, inner * cx * (1 - forget) * forget,
                       inner * enter * (1 - cell * cell),
                       grad_hy * squashed * (1 - leave) * leave], 1)
    return gates, inner * forget, gates.sum(0) if has_bias else None


def gru_cell_backward(grad_hy, workspace, has_bias):
    """Of the gates from the input and from the state, the state, and their biases."""
    reset, update, new, hx, hidden_new = workspace.chunk(5, 1)
    of_new = grad_hy * (1 - update) * (1 - new * new)
    of_update = grad_hy * (hx - new) * update * (1 - update)
    of_reset = of_new * hidden_new * reset * (1 - reset)
    inputs = torch.cat([of_reset, of_update, of_new], 1)
    hidden = torch.cat([of_reset, of_update, of_new * reset], 1)
    biases = (inputs.sum(0), hidden.sum(0)) if has_bias else (None, None)
    return inputs, hidden, grad_hy * update, *biases


def shrink_backward(grad, x, lambd):
    return torch.where((x >= -lambd) & (x <= lambd), torch.zeros_like(grad), grad)


FORMULAS = {
    aten.hardshrink_backward.default: shrink_backward,
    aten.convolution_backward.default: convolution_backward,
    aten._scaled_dot_product_flash_attention_for_cpu_backward.default: _attention_on_cpu,
    aten._scaled_dot_product_flash_attention_backward.default: _flash_attention,
    aten._scaled_dot_product_efficient_attention_backward.default: _efficient_attention,
    aten._scaled_dot_product_cudnn_attention_backward.default: _cudnn_attention,
    aten._thnn_fused_lstm_cell_backward_impl.default: lstm_cell_backward,
    aten._thnn_fused_gru_cell_backward.default: gru_cell_backward,
}


def is_backward(func):
    return "backward" in func._schema.name


def core_table():
    """Core ATen's decompositions and those of backward operators, some of which are left whole
    there."""
    table = {func: formula for func, formula in decomposition_table.items()
             if isinstance(func, torch._ops.OpOverload) and is_backward(func)}
    table |= dict(core_aten_decompositions().items())
    return table | FORMULAS
