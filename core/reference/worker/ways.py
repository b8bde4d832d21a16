# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Other ways in which PyTorch may run the same task in the same numerics.

Where a mode allows TF32, PyTorch does not take it everywhere: cuDNN chooses by shape and layout,
fused attention has kernels without it. torch.compile, which chooses other layouts, rounds where
eager does not. The allowance is to be that of the mode, not of one choice or of what a library has
kernels for, so the errors of these ways count as the reference's own.
"""

import torch
from torch.utils._python_dispatch import TorchDispatchMode

LAYOUTS = {4: torch.channels_last, 5: torch.channels_last_3d}
aten = torch.ops.aten
CONVOLUTIONS = {aten.convolution.default: (0, 1)}  # operator: its operands that TF32 may round
PRODUCTS = {aten.mm.default: (0, 1), aten.bmm.default: (0, 1), aten.addmm.default: (1, 2),
            aten.baddbmm.default: (1, 2)}
BELOW = 13  # bits that a TF32 number has less than a float


class ChannelsLast(TorchDispatchMode):
    """Gives float32 convolutions channels-last tensors, for which cuDNN has its tensor-core
    kernels, and notes what it met."""

    def __init__(self):
        super().__init__()
        self.convolutions = 0
        self.changed = 0  # of them, those that have such a layout
        self.products = 0
        self.attention = False

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.attention = self.attention or "scaled_dot_product" in func._schema.name
        self.products += func in PRODUCTS and args[1].dtype == torch.float32
        if func not in CONVOLUTIONS or args[0].dtype != torch.float32:
            return func(*args, **(kwargs or {}))
        self.convolutions += 1
        layout = LAYOUTS.get(args[0].dim())
        if layout is None:
            return func(*args, **(kwargs or {}))
        self.changed += 1
        moved = [tensor.contiguous(memory_format=layout) for tensor in args[:2]]
        return func(*moved, *args[2:], **(kwargs or {})).contiguous()


def rounded_to_tf32(tensor):
    """The nearest TF32 numbers (ties away from zero, as cvt.rna.tf32 rounds), as floats."""
    result = tensor.clone()
    result.view(torch.int32).add_(1 << (BELOW - 1)).bitwise_and_(-(1 << BELOW))
    strange = tensor != tensor  # NaN may have any bits
    return torch.where(strange, tensor, result) if strange.any() else result


class Rounded(TorchDispatchMode):
    """What TF32 means, whether or not there are kernels for a shape: operands of float32
    convolutions, and of products where `products`, are TF32 numbers."""

    def __init__(self, products):
        super().__init__()
        self.operands = CONVOLUTIONS | (PRODUCTS if products else {})

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        args = list(args)
        for i in self.operands.get(func, ()):
            if args[i].dtype == torch.float32:
                args[i] = rounded_to_tf32(args[i])
        return func(*args, **(kwargs or {}))


def unfused_attention():
    """Scores and sums as products, which round as products do."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    return sdpa_kernel([SDPBackend.MATH])


class Ways:
    """The ways that differ for one task; knows after the first run which do."""

    def __init__(self, tf32):
        self.tf32 = tf32
        self.met = None

    def run(self, forward):
        """Yields what each way gives. `forward()` draws inputs and runs the model; it is called
        once for each way."""
        if self.met is None or self.met.changed:
            watch = ChannelsLast()
            with watch:
                outputs = forward()
            self.met = watch
            if watch.changed:
                yield outputs
            del outputs
        if self.met.convolutions or (self.tf32 and self.met.products):
            with Rounded(self.tf32):
                outputs = forward()
            yield outputs
        if self.met.attention and self.tf32:
            with unfused_attention():
                outputs = forward()
            yield outputs

