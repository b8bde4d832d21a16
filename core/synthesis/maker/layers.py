# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Layers that stand among the formulas of a module (expressions.py): modules of PyTorch with
parameters of their own, under the names that people give them."""

from dataclasses import dataclass

CONVOLUTION = ("torch.nn.Conv2d", "convolution 2d", "convolution")
LINEAR = ("torch.nn.Linear", "linear", "product")
NAMES = {
    CONVOLUTION: ("conv", "conv1", "conv2d", "convolution", "filters", "project"),
    LINEAR: ("linear", "fc", "proj", "dense", "gemm", "layer", "in_proj", "out_proj", "head"),
}
NORM_NAMES = ("norm", "ln", "layer_norm", "norm1", "normalize", "out_norm", "bn", "group_norm")


@dataclass
class Layer:
    text: str          # what makes it
    operator: tuple    # name, kind, family
    names: tuple       # that it may have
    given: tuple       # shape of what it reads


def norm_of(name, text, kind):
    def layer(draw, shape):
        return Layer(text(draw, shape), (name, kind, "normalisation"), NORM_NAMES, shape)

    return layer


def groups(draw, shape):
    """Of at least eight elements each."""
    fitting = [each for each in (1, 2, 4, 8, 16, 32)
               if shape[1] % each == 0 and shape[1] * shape[2] * shape[3] >= 8 * each]
    return f"nn.GroupNorm({draw.choice(fitting)}, {shape[1]})"


def bias(draw):
    return "" if draw.chance(0.8) else ", bias=False"


def linear(draw, shape, given=None):
    given = given or shape[-1]
    return Layer(f"nn.Linear({given}, {shape[-1]}{bias(draw)})", LINEAR, NAMES[LINEAR],
                 (*shape[:-1], given))


def convolution(draw, shape, given=None):
    given = given or shape[1]
    window = draw.weighted({"3, padding=1": 3, "1": 2, "5, padding=2": 1})
    return Layer(f"nn.Conv2d({given}, {shape[1]}, {window}{bias(draw)})", CONVOLUTION,
                 NAMES[CONVOLUTION], (shape[0], given, *shape[2:]))


def first(draw, shape):
    """A layer that what a module reads goes through first: to `shape`, [batch, channels, height,
    width] or [batch, ..., features], from another number of channels or features."""
    images = len(shape) == 4
    given = draw.size(3, 256) if images else draw.size(64, 4096)
    return (convolution if images else linear)(draw, shape, given)


def keeping(draw, shape):
    """A layer whose result has the shape of what it reads."""
    return draw.weighted(IMAGES if len(shape) == 4 else ROWS)(draw, shape)


IMAGES = {
    norm_of("torch.nn.BatchNorm2d", lambda _, shape: f"nn.BatchNorm2d({shape[1]})",
            "batch norm"): 3,
    norm_of("torch.nn.GroupNorm", groups, "group norm"): 2,
    convolution: 1,
}
ROWS = {
    norm_of("torch.nn.LayerNorm", lambda _, shape: f"nn.LayerNorm({shape[-1]})",
            "layer norm"): 4,
    norm_of("torch.nn.RMSNorm", lambda _, shape: f"nn.RMSNorm({shape[-1]}, eps=1e-6)",
            "rms norm"): 1,
    linear: 1,
}
