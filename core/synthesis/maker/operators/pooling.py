# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pooling, as modules and as functions."""

from maker.operators.build import FLOAT32, images, operator, signals, volumes
from maker.operators.convolution import written
from maker.spec import ANY, FLOATING, NON_NEGATIVE, Step, within

SHAPES = {1: signals, 2: images, 3: volumes}


def pool(kind, dims, module):
    """Maximum, average or power-average pooling with a window."""
    def write(draw, value):
        kernel = [draw.choice((2, 2, 3, 3, 4, 5))] * dims
        uneven, other = draw.chance(0.15), draw.choice((2, 3, 4))
        stride, pad = draw.choice((0, 0, 1, 2, 3)), draw.chance(0.4)
        dilation, ceil = draw.weighted({1: 6, 2: 1}), draw.chance(0.15)
        count, power = draw.chance(0.3), draw.choice((1, 2, 2, 3))
        if uneven and dims > 1:
            kernel[-1] = other
        dilation = dilation if kind == "max" else 1
        padding = [size // 2 if pad and kind != "lp" else 0 for size in kernel]
        # AvgPool3d counts no padding here, and whole images are the adaptive pools' part.
        if any(side < dilation * (size - 1) + 1 for side, size in zip(value.shape[2:], kernel)):
            return None
        text = f"{power}, {written(kernel)}" if kind == "lp" else written(kernel)
        text += f", stride={stride}" if stride else ""
        text += f", padding={written(padding)}" if any(padding) else ""
        text += f", dilation={dilation}" if dilation > 1 else ""
        text += ", ceil_mode=True" if ceil else ""
        text += ", count_include_pad=False" if kind == "avg" and count and any(padding) else ""
        domain = value.domain if kind == "max" else \
            NON_NEGATIVE if within(value.domain, NON_NEGATIVE) else ANY
        if module:
            name = {"max": "MaxPool", "avg": "AvgPool", "lp": "LPPool"}[kind]
            return Step("{m}({x})", f"nn.{name}{dims}d({text})", domain=domain, name="pool")
        name = {"max": "max_pool", "avg": "avg_pool", "lp": "lp_pool"}[kind]
        return Step(f"F.{name}{dims}d({{x}}, {text})", domain=domain)

    return write


def adaptive(kind, dims, module):
    def write(draw, value):
        size, uneven = draw.weighted({1: 3, 2: 1, 3: 1, 4: 1, 7: 1, 8: 1}), draw.chance(0.15)
        sizes = [size] * dims
        if uneven and dims > 1:
            sizes[0] = 1
        if any(each > side for each, side in zip(sizes, value.shape[2:])) or \
                tuple(sizes) == value.shape[2:]:
            return None
        if module:
            name = f"Adaptive{kind.capitalize()}Pool{dims}d"
            return Step("{m}({x})", f"nn.{name}({written(sizes)})", domain=value.domain,
                        name="pool")
        return Step(f"F.adaptive_{kind}_pool{dims}d({{x}}, {written(sizes)})",
                    domain=value.domain)

    return write


def operators():
    for dims in (1, 2, 3):
        common = {"shape": SHAPES[dims], "ranks": (dims + 2, dims + 2)}
        weight = 2 if dims == 2 else 1
        for kind, label in (("max", "maximum"), ("avg", "average"), ("lp", "power average")):
            # Derivatives of windows that overlap are summed by atomics on cuda.
            certain = kind == "lp" or kind == "avg" and dims < 3
            # A power of 16-bit numbers loses too much.
            dtypes = FLOAT32 if kind == "lp" else FLOATING
            many = weight * (0.3 if kind == "lp" else 1)
            name = {"max": "MaxPool", "avg": "AvgPool", "lp": "LPPool"}[kind]
            yield operator(f"torch.nn.{name}{dims}d", f"{label} pooling {dims}d", "pooling",
                           pool(kind, dims, True), weight=2 * many, dtypes=dtypes,
                           differentiable=certain,
                           wanted=NON_NEGATIVE if kind == "lp" else ANY, **common)
            yield operator(f"torch.nn.functional.{kind}_pool{dims}d", f"{label} pooling {dims}d",
                           "pooling", pool(kind, dims, False), weight=many, dtypes=dtypes,
                           differentiable=certain,
                           wanted=NON_NEGATIVE if kind == "lp" else ANY, **common)
        for kind, label in (("max", "maximum"), ("avg", "average")):
            yield operator(f"torch.nn.Adaptive{kind.capitalize()}Pool{dims}d",
                           f"adaptive {label} pooling {dims}d", "pooling",
                           adaptive(kind, dims, True), weight=weight, differentiable=False,
                           **common)
            yield operator(f"torch.nn.functional.adaptive_{kind}_pool{dims}d",
                           f"adaptive {label} pooling {dims}d", "pooling",
                           adaptive(kind, dims, False), weight=weight, differentiable=False,
                           **common)
