# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Other ways in which stock PyTorch runs the same task in the same numerics.

Where a mode allows TF32, PyTorch does not take it everywhere: cuDNN chooses by shape and layout,
fused attention has kernels without it. torch.compile, which chooses other layouts, rounds where
eager does not. The allowance is to be that of the mode, not of one choice, so the errors of these
ways count as the reference's own.
"""

import torch
from torch.utils._python_dispatch import TorchDispatchMode

LAYOUTS = {4: torch.channels_last, 5: torch.channels_last_3d}


class ChannelsLast(TorchDispatchMode):
    """Gives float32 convolutions channels-last tensors, for which cuDNN has its tensor-core
    kernels, and notes what it met."""

    def __init__(self):
        super().__init__()
        self.convolutions = 0
        self.attention = False

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.attention = self.attention or "scaled_dot_product" in func._schema.name
        if func is not torch.ops.aten.convolution.default or args[0].dtype != torch.float32 or \
                args[0].dim() not in LAYOUTS:
            return func(*args, **(kwargs or {}))
        self.convolutions += 1
        layout = LAYOUTS[args[0].dim()]
        moved = [tensor.contiguous(memory_format=layout) for tensor in args[:2]]
        return func(*moved, *args[2:], **(kwargs or {})).contiguous()


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
        if self.met is None or self.met.convolutions:
            watch = ChannelsLast()
            with watch:
                outputs = forward()
            self.met = watch
            if watch.convolutions:
                yield outputs
            del outputs
        if self.met.attention and self.tf32:
            with unfused_attention():
                outputs = forward()
            yield outputs

