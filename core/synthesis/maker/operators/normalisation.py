# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Normalisations, as modules and as functions."""

from math import prod

from maker.operators.build import (images, like, operator, ranked, row, sequences, signals, spelled,
                                   vectors, volumes, wide_dim)
from maker.spec import ANY, POSITIVE, PROBABILITY, Step

EPS = (1e-5, 1e-6, 1e-3)
NORMALISATION = "normalisation"
F = "torch.nn.functional."
SPATIAL = {1: ranked(signals), 2: images, 3: volumes}


def normalized_shape(draw, value):
    """The last one, two or three dimensions; None where they are too few elements."""
    count = draw.weighted({1: 6, 2: 1, 3: 1})
    shape = value.shape[-min(count, value.rank - 1):]
    return shape if 8 <= prod(shape) <= 4_000_000 else None


def written(shape):
    return str(shape[0]) if len(shape) == 1 else str(tuple(shape))


def layer_norm_module(draw, value):
    shape, eps = normalized_shape(draw, value), draw.choice(EPS)
    affine = draw.choice(("", "", ", elementwise_affine=False", ", bias=False"))
    if shape is None:
        return None
    return Step("{m}({x})", f"nn.LayerNorm({written(shape)}, eps={eps}{affine})", name="norm")


def rms_norm_module(draw, value):
    shape, eps = normalized_shape(draw, value), draw.choice(EPS)
    affine = draw.choice(("", "", ", elementwise_affine=False"))
    if shape is None:
        return None
    return Step("{m}({x})", f"nn.RMSNorm({written(shape)}, eps={eps}{affine})", name="norm")


def layer_norm(draw, value):
    shape, eps, affine = normalized_shape(draw, value), draw.choice(EPS), draw.integer(0, 2)
    if shape is None:
        return None
    extras = (like(value, "weight", ANY, shape), like(value, "bias", ANY, shape))[:affine]
    behind = "".join(f", {{{extra.name}}}" for extra in extras)
    end = f", eps={eps}"
    return Step(f"F.layer_norm({{x}}, {tuple(shape)}{behind}{end})", None, extras)


def rms_norm(start):
    def write(draw, value):
        shape, eps, affine = normalized_shape(draw, value), draw.choice(EPS), draw.integer(0, 1)
        if shape is None:
            return None
        extras = (like(value, "weight", ANY, shape),)[:affine]
        behind = ", {weight}" if affine else ""
        return Step(f"{start}({{x}}, {tuple(shape)}{behind}, eps={eps})", None, extras)

    return write


def divisors(number, largest=64):
    return [divisor for divisor in range(1, min(number, largest) + 1) if number % divisor == 0]


def groups_of(draw, channels):
    """A number of groups that divides the channels, powers of two mostly; channels themselves are
    one group each at times."""
    fitting = divisors(channels)
    return draw.choice([each for each in fitting if each & (each - 1) == 0] or fitting)


def group_norm_module(draw, value):
    groups, eps = groups_of(draw, value.shape[1]), draw.choice(EPS)
    affine = "" if draw.chance(0.8) else ", affine=False"
    if row(value) // groups < 8:
        return None
    return Step("{m}({x})", f"nn.GroupNorm({groups}, {value.shape[1]}, eps={eps}{affine})",
                name="norm")


def group_norm(draw, value):
    groups, eps, affine = groups_of(draw, value.shape[1]), draw.choice(EPS), draw.integer(0, 2)
    if row(value) // groups < 8:
        return None
    extras = (like(value, "weight", ANY, value.shape[1:2]),
              like(value, "bias", ANY, value.shape[1:2]))[:affine]
    behind = "".join(f", {{{extra.name}}}" for extra in extras)
    return Step(f"F.group_norm({{x}}, {groups}{behind}, eps={eps})", None, extras)


def batch_norm_module(dims):
    def write(draw, value):
        # A task runs in eval(): with statistics of its own a new module would change nothing.
        eps, affine = draw.choice(EPS), draw.choice(("", "", ", affine=False"))
        if row(value) // value.shape[1] < 8:
            return None
        return Step("{m}({x})", f"nn.BatchNorm{dims}d({value.shape[1]}, eps={eps}{affine}, "
                    "track_running_stats=False)", name="norm")

    return write


def batch_norm(draw, value):
    """With given statistics: what a trained network does."""
    affine, eps = draw.chance(0.7), draw.choice(EPS)
    channels = value.shape[1:2]
    extras = [like(value, "mean", ANY, channels), like(value, "variance", POSITIVE, channels)]
    if affine:
        extras += [like(value, "weight", ANY, channels), like(value, "bias", ANY, channels)]
    behind = ", ".join(f"{{{extra.name}}}" for extra in extras)
    return Step(f"F.batch_norm({{x}}, {behind}, eps={eps})", None, tuple(extras))


def instance_norm_module(dims):
    def write(draw, value):
        eps, affine = draw.choice(EPS), "" if draw.chance(0.5) else ", affine=True"
        if row(value) // value.shape[1] < 8:
            return None
        return Step("{m}({x})", f"nn.InstanceNorm{dims}d({value.shape[1]}, eps={eps}{affine})",
                    name="norm")

    return write


def instance_norm(draw, value):
    affine, eps = draw.chance(0.5), draw.choice(EPS)
    if row(value) // value.shape[1] < 8:
        return None
    channels = value.shape[1:2]
    extras = (like(value, "weight", ANY, channels), like(value, "bias", ANY, channels))
    behind = ", weight={weight}, bias={bias}" if affine else ""
    return Step(f"F.instance_norm({{x}}{behind}, eps={eps})", None, extras if affine else ())


def local_response_norm(start, module):
    def write(draw, value):
        size, alpha = draw.choice((3, 5, 7)), draw.choice((0.1, 0.5, 2.0))
        if value.shape[1] < size:
            return None
        text = f"{size}, alpha={alpha}, beta=0.75, k=1.0)"
        if module:
            return Step("{m}({x})", start + text, name="norm")
        return Step(start + text)

    return write


def normalize(draw, value):
    dim, p = wide_dim(draw, value), draw.weighted({"2.0": 4, "1.0": 1, "float('inf')": 0.3})
    eps = draw.choice(("", ", eps=1e-6"))
    if dim is None:
        return None
    return Step(f"F.normalize({{x}}, p={p}, dim={spelled(draw, value, dim)}{eps})", None, (),
                value.domain if value.domain != PROBABILITY else POSITIVE)


def renorm(draw, value):
    p, most = draw.choice((1, 2)), draw.choice((0.5, 1.0, 5.0))
    dim = draw.integer(0, value.rank - 1)
    return Step(f"torch.renorm({{x}}, {p}, {dim}, {most})", None, (), value.domain
                if value.domain != PROBABILITY else POSITIVE)


def operators():
    rows = ranked(vectors, sequences, sequences, images)
    deep = ranked(signals, images, images, volumes)
    yield operator("torch.nn.LayerNorm", "layer norm", NORMALISATION, layer_norm_module, rows,
                   ranks=(2, 5), weight=3)
    yield operator(F + "layer_norm", "layer norm", NORMALISATION, layer_norm, rows, ranks=(2, 5),
                   weight=2)
    yield operator("torch.nn.RMSNorm", "rms norm", NORMALISATION, rms_norm_module, rows,
                   ranks=(2, 5), weight=3)
    yield operator(F + "rms_norm", "rms norm", NORMALISATION, rms_norm("F.rms_norm"), rows,
                   ranks=(2, 5), weight=2)
    yield operator("torch.rms_norm", "rms norm", NORMALISATION, rms_norm("torch.rms_norm"), rows,
                   ranks=(2, 5), weight=0.5)
    yield operator("torch.nn.GroupNorm", "group norm", NORMALISATION, group_norm_module, deep,
                   ranks=(3, 5), weight=2)
    yield operator(F + "group_norm", "group norm", NORMALISATION, group_norm, deep, ranks=(3, 5))
    for dims in (1, 2, 3):
        # Not of rank 2: over few batch elements the result would be little more than a sign.
        yield operator(f"torch.nn.BatchNorm{dims}d", "batch norm", NORMALISATION,
                       batch_norm_module(dims), SPATIAL[dims], ranks=(dims + 2, dims + 2),
                       weight=2 if dims == 2 else 1)
        yield operator(f"torch.nn.InstanceNorm{dims}d", "instance norm", NORMALISATION,
                       instance_norm_module(dims), SPATIAL[dims], ranks=(dims + 2, dims + 2),
                       weight=1.5 if dims == 2 else 0.7)
    # Statistics that are given have no derivative.
    yield operator(F + "batch_norm", "batch norm", NORMALISATION, batch_norm, deep, ranks=(2, 5),
                   differentiable=False)
    yield operator(F + "instance_norm", "instance norm", NORMALISATION, instance_norm, deep,
                   ranks=(3, 5))
    yield operator(F + "local_response_norm", "local response norm", NORMALISATION,
                   local_response_norm("F.local_response_norm({x}, ", False), images, ranks=(3, 5),
                   weight=0.7)
    yield operator("torch.nn.LocalResponseNorm", "local response norm", NORMALISATION,
                   local_response_norm("nn.LocalResponseNorm(", True), images, ranks=(3, 5),
                   weight=0.7)
    yield operator(F + "normalize", "normalisation to a norm of 1", NORMALISATION, normalize,
                   rows, ranks=(2, 5), weight=2)
    yield operator("torch.renorm", "renorm", NORMALISATION, renorm, rows, ranks=(2, 5),
                   dtypes=("float32",), weight=0.3)
