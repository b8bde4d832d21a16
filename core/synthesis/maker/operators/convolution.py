# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Convolutions and transposed convolutions of one, two and three dimensions."""

from math import prod

from maker.operators.build import images, like, operator, signals, volumes
from maker.operators.normalisation import divisors
from maker.spec import ANY, Step

F = "torch.nn.functional."
SHAPES = {1: signals, 2: images, 3: volumes}
KERNELS = {1: (1, 3, 3, 5, 7, 9), 2: (1, 3, 3, 3, 5, 7), 3: (1, 3, 3, 3, 5)}
WORK = {1: 40e9, 2: 40e9, 3: 60e9}  # multiplications of one batch element at most


def geometry(draw, value, dims, transposed=False):
    """Drawn kernel, stride, padding, dilation, groups and channels; None where they do not fit."""
    channels, sides = value.shape[1], value.shape[2:]
    kernel = [draw.choice(KERNELS[dims])] * dims
    uneven = draw.chance(0.15)
    other = draw.choice(KERNELS[dims])
    if uneven and dims > 1:
        kernel[-1] = other
    stride = draw.weighted({1: 4, 2: 2, 3: 0.4})
    dilation = draw.weighted({1: 6, 2: 1, 3: 0.3})
    padded = draw.weighted({"same": 4, "none": 2, "one": 1})
    grouping = draw.weighted({"one": 6, "depthwise": 1.5, "some": 1})
    out = draw.size(4, 512 if dims < 3 else 96)
    some = draw.choice([each for each in divisors(channels, 32)])
    groups = {"one": 1, "depthwise": channels, "some": some}[grouping]
    if grouping == "depthwise":
        out = channels * draw.choice((1, 1, 2))
    out = max(groups, out // groups * groups)
    if kernel == [1] * dims:
        dilation = 1
    padding = [{"same": dilation * (size - 1) // 2, "none": 0,
                "one": min(1, size // 2)}[padded] for size in kernel]
    reach = [dilation * (size - 1) + 1 for size in kernel]
    if any(side + 2 * pad < size for side, pad, size in zip(sides, padding, reach)):
        return None
    area = prod(sides) * (stride ** dims if transposed else 1 / stride ** dims)
    if out * area > 16e6 or out * area * channels // groups * prod(kernel) > WORK[dims]:
        return None
    return kernel, stride, padding, dilation, groups, out


def written(sizes):
    """(3, 3) is 3."""
    return str(sizes[0]) if len(set(sizes)) == 1 else str(tuple(sizes))


def arguments(stride, padding, dilation, groups, output_padding=0):
    text = f", stride={stride}" if stride > 1 else ""
    text += f", padding={written(padding)}" if any(padding) else ""
    text += f", output_padding={output_padding}" if output_padding else ""
    text += f", groups={groups}" if groups > 1 else ""
    return text + (f", dilation={dilation}" if dilation > 1 else "")


def module(dims, transposed):
    def write(draw, value):
        drawn = geometry(draw, value, dims, transposed)
        bias = "" if draw.chance(0.7) else ", bias=False"
        wider = draw.chance(0.4)
        mode = draw.weighted({"": 12, ", padding_mode='circular'": 1})
        if drawn is None:
            return None
        kernel, stride, padding, dilation, groups, out = drawn
        small = all(pad < side for pad, side in zip(padding, value.shape[2:]))
        mode = mode if any(padding) and not transposed and small else ""
        further = 1 if transposed and wider and stride > 1 else 0
        name = f"ConvTranspose{dims}d" if transposed else f"Conv{dims}d"
        text = f"nn.{name}({value.shape[1]}, {out}, {written(kernel)}"
        text += arguments(stride, padding, dilation, groups, further) + bias + mode + ")"
        return Step("{m}({x})", text, name="conv_transpose" if transposed else "conv")

    return write


def function(dims, transposed):
    def write(draw, value):
        drawn = geometry(draw, value, dims, transposed)
        biased, wider = draw.chance(0.5), draw.chance(0.4)
        if drawn is None:
            return None
        kernel, stride, padding, dilation, groups, out = drawn
        channels = value.shape[1]
        shape = (channels, out // groups, *kernel) if transposed else \
            (out, channels // groups, *kernel)
        extras = (like(value, "weight", ANY, shape), like(value, "bias", ANY, (out,)))
        name = f"conv_transpose{dims}d" if transposed else f"conv{dims}d"
        further = 1 if transposed and wider and stride > 1 else 0
        text = f"F.{name}({{x}}, {{weight}}" + (", bias={bias}" if biased else "")
        text += arguments(stride, padding, dilation, groups, further) + ")"
        return Step(text, None, extras[:1 + biased])

    return write


def operators():
    for dims in (1, 2, 3):
        common = {"shape": SHAPES[dims], "ranks": (dims + 2, dims + 2)}
        weight = 3 if dims == 2 else 1
        yield operator(f"torch.nn.Conv{dims}d", f"convolution {dims}d", "convolution",
                       module(dims, False), weight=2 * weight, **common)
        yield operator(F + f"conv{dims}d", f"convolution {dims}d", "convolution",
                       function(dims, False), weight=weight, **common)
        yield operator(f"torch.nn.ConvTranspose{dims}d", f"transposed convolution {dims}d",
                       "transposed convolution", module(dims, True), weight=2 * weight, **common)
        yield operator(F + f"conv_transpose{dims}d", f"transposed convolution {dims}d",
                       "transposed convolution", function(dims, True), weight=weight, **common)


