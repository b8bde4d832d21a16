# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reductions over dimensions other than the batch."""

from math import prod

from maker.operators.build import (FLOAT32, NO_METHOD, images, operator, row, sequences, signals,
                                   spelled, vectors, wide_dim)
from maker.spec import (ANY, FLOATING, INDEX, NON_NEGATIVE, POSITIVE, Step, Value, within)

# name: kind, arguments with <dim>, domain of the result ("same": of the value), several dims,
# differentiable, weight.
REDUCTIONS = {
    "torch.sum": ("sum", "", ANY, True, True, 3),
    "torch.mean": ("mean", "", "same", True, True, 3),
    "torch.amax": ("maximum along a dimension", "", "same", True, True, 2),
    "torch.amin": ("minimum along a dimension", "", "same", True, True, 1.5),
    "torch.logsumexp": ("logsumexp", "", ANY, True, True, 2),
    "torch.special.logsumexp": ("logsumexp", "", ANY, True, True, 0.3),
    "torch.std": ("standard deviation", "<correction>", NON_NEGATIVE, True, True, 1),
    "torch.var": ("variance", "<correction>", NON_NEGATIVE, True, True, 1.5),
    "torch.nansum": ("sum", "", ANY, True, True, 0.2),
    "torch.nanmean": ("mean", "", "same", True, True, 0.2),
    "torch.norm": ("vector norm", "<p>", NON_NEGATIVE, False, True, 1.5),
    "torch.linalg.vector_norm": ("vector norm", "<ord>", NON_NEGATIVE, True, True, 1.5),
    "torch.linalg.norm": ("vector norm", "<ord>", NON_NEGATIVE, False, True, 0.7),
    "torch.prod": ("product of elements", "", ANY, False, False, 0.3),
}

# name: kind, texts, domain; results that are one of several.
CHOSEN = {
    "torch.max": ("maximum along a dimension", ".values", "same", 2),
    "torch.min": ("minimum along a dimension", ".values", "same", 1),
    "torch.std_mean": ("standard deviation", "[0]", NON_NEGATIVE, 0.4),
    "torch.var_mean": ("variance", "[0]", NON_NEGATIVE, 0.4),
    "torch.aminmax": ("range of elements", ".max", "same", 0.3),
}
OPTIONS = {
    "<correction>": ("", ", correction=0", ", unbiased=False"),
    "<p>": ("", ", p=1", ", p=2", ", p=float('inf')", ", p=3"),
    "<ord>": ("", ", ord=1", ", ord=2", ", ord=float('inf')", ", ord=3"),
}


def dims(draw, value, several, low=2):
    """One dimension that is worth reducing, or all of the last ones; None where there is none."""
    dim = wide_dim(draw, value, low)
    chance, count = draw.chance(0.35), draw.integer(2, 3)
    if dim is None:
        return None
    if several and chance and value.rank > 2:
        first = max(1, value.rank - count)
        return tuple(range(first - value.rank, 0)) if draw.chance(0.5) else \
            tuple(range(first, value.rank))
    return (spelled(draw, value, dim),)


def overflows(value, drawn):
    """Whether a sum of numbers of about 1 may pass the largest one of the type."""
    return value.dtype == "float16" and prod(value.shape[dim] for dim in drawn) > 32768


def write_reduction(name, arguments, result, several, behind=""):
    def write(draw, value):
        drawn = dims(draw, value, several)
        argument = draw.choice(OPTIONS.get(arguments, ("",)))
        keep, method = draw.chance(0.4), draw.chance(0.3)
        method = method and name.count(".") == 1 and name not in NO_METHOD
        if drawn is None or overflows(value, drawn):
            return None
        dim = drawn[0] if len(drawn) == 1 else drawn
        start = f"{{x}}.{name.split('.')[1]}(" if method else f"{name}({{x}}, "
        keepdim = ", keepdim=True" if keep else ""
        after = value.domain if result == "same" else result
        if result == "same" and after not in (ANY, NON_NEGATIVE):
            after = POSITIVE
        if name in ("torch.sum", "torch.nansum") and within(value.domain, NON_NEGATIVE):
            after = POSITIVE if within(value.domain, POSITIVE) else NON_NEGATIVE
        return Step(f"{start}dim={dim}{argument}{keepdim}){behind}", None, (), after)

    return write


def indexed(name):
    def write(draw, value):
        dim = wide_dim(draw, value)
        keep, method = draw.chance(0.3), draw.chance(0.3)
        if dim is None:
            return None
        start = f"{{x}}.{name}(" if method else f"torch.{name}({{x}}, "
        keepdim = ", keepdim=True" if keep else ""
        return Step(f"{start}dim={spelled(draw, value, dim)}{keepdim})", None, (), INDEX,
                    value.shape[dim])

    return write


def short_vectors(draw):
    return (draw.size(32, 512), draw.size(16, 64))


def short(write):
    """For last dimensions of at most 64 elements: a product of more vanishes or overflows."""
    def shorter(draw, value):
        if value.shape[-1] > 64:
            return None
        return write(draw, Value((value.shape[0],) + (1,) * (value.rank - 2) + value.shape[-1:],
                                 value.dtype, value.domain))

    return shorter


def quantile(name):
    def write(draw, value):
        dim, part = wide_dim(draw, value), draw.choice((0.1, 0.25, 0.5, 0.9))
        keep = ", keepdim=True" if draw.chance(0.3) else ""
        if dim is None or row(value) > 65536:
            return None
        return Step(f"torch.{name}({{x}}, {part}, dim={spelled(draw, value, dim)}{keep})", None,
                    (), value.domain if value.domain in (NON_NEGATIVE, ANY) else POSITIVE)

    return write


def reducible(draw):
    """Mostly dimensions of some hundreds: statistics of very many elements hardly vary."""
    return draw.weighted({short_rows: 4, sequences: 2, images: 2, signals: 0.5, vectors: 0.5})(draw)


def short_rows(draw):
    return (draw.size(64, 2048), draw.size(16, 256))


def small_rows(draw):
    return (draw.size(8, 64), draw.size(64, 1024))


def operators():
    for name, (kind, arguments, result, several, differentiable, weight) in REDUCTIONS.items():
        write = write_reduction(name, arguments, result, several)
        shape = reducible
        if name == "torch.prod":
            write, shape = short(write), short_vectors
        yield operator(name, kind, "reduction", write, shape, ranks=(2, 5), weight=weight,
                       differentiable=differentiable,
                       dtypes=FLOAT32 if name == "torch.prod" else FLOATING)
    for name, (kind, behind, result, weight) in CHOSEN.items():
        several = name in ("torch.std_mean", "torch.var_mean")
        yield operator(name, kind, "reduction",
                       write_reduction(name, "<correction>" if several else "", result, several,
                                       behind), reducible, ranks=(2, 5), weight=weight,
                       differentiable=name != "torch.aminmax")
    for name in ("argmax", "argmin"):
        kind = "index of the " + ("maximum" if name == "argmax" else "minimum")
        yield operator(f"torch.{name}", kind, "reduction", indexed(name), reducible,
                       ranks=(2, 5), differentiable=False, weight=0.5)
    for name in ("quantile", "nanquantile"):
        yield operator(f"torch.{name}", "quantile", "reduction", quantile(name), small_rows,
                       ranks=(2, 4), dtypes=FLOAT32, weight=0.2, differentiable=False)
