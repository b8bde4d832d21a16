# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sorting and order statistics along dimensions other than the batch.

Only values go on where equal elements make the order of indices a matter of chance."""

from maker.operators.build import features, operator, ranked, sequences, spelled, wide_dim
from maker.operators.layout import moved
from maker.spec import FLOATING, INDEX, Step

MOST = 65536


def along(value, dim):
    return dim is None or value.shape[dim] > MOST


def ordered(draw, value):
    dim, down = wide_dim(draw, value, 4), draw.chance(0.4)
    if along(value, dim):
        return None
    text = ", descending=True" if down else ""
    return Step(f"torch.sort({{x}}, dim={spelled(draw, value, dim)}{text}).values",
                domain=moved(value.domain))


def argsort(draw, value):
    dim, down = wide_dim(draw, value, 4), draw.chance(0.4)
    if along(value, dim):
        return None
    text = ", descending=True" if down else ""
    return Step(f"torch.argsort({{x}}, dim={spelled(draw, value, dim)}{text}, stable=True)", None,
                (), INDEX, value.shape[dim])


def topk(draw, value):
    dim, part, least = wide_dim(draw, value, 8), draw.choice((2, 4, 8)), draw.chance(0.2)
    few = draw.chance(0.5)
    if along(value, dim):
        return None
    count = min(8, value.shape[dim] // 2) if few else value.shape[dim] // part
    text = ", largest=False" if least else ""
    start = f"{{x}}.topk({count}" if draw.chance(0.4) else f"torch.topk({{x}}, {count}"
    return Step(f"{start}, dim={spelled(draw, value, dim)}{text}).values",
                domain=moved(value.domain))


def kth(draw, value):
    dim, part, keep = wide_dim(draw, value, 8), draw.choice((2, 4, 8)), draw.chance(0.3)
    if along(value, dim):
        return None
    return Step(f"torch.kthvalue({{x}}, {max(1, value.shape[dim] // part)}, dim={dim}"
                f"{', keepdim=True' if keep else ''}).values", domain=moved(value.domain))


def middle(name):
    def write(draw, value):
        dim, keep = wide_dim(draw, value, 4), draw.chance(0.3)
        if along(value, dim):
            return None
        return Step(f"torch.{name}({{x}}, dim={spelled(draw, value, dim)}"
                    f"{', keepdim=True' if keep else ''}).values", domain=moved(value.domain))

    return write


def operators():
    rows = ranked(features, sequences)
    # Derivatives are put where the indices say, by what may be equal elements.
    yield operator("torch.sort", "sort", "sorting", ordered, rows, ranks=(2, 4), weight=2,
                   differentiable=False)
    yield operator("torch.argsort", "argsort", "sorting", argsort, rows, ranks=(2, 4), weight=0.5,
                   differentiable=False)
    yield operator("torch.topk", "top k", "sorting", topk, rows, ranks=(2, 4), weight=2,
                   differentiable=False)
    yield operator("torch.kthvalue", "k-th value", "sorting", kth, rows, ranks=(2, 4), weight=0.7,
                   differentiable=False)
    for name in ("median", "nanmedian"):
        yield operator(f"torch.{name}", "median", "sorting", middle(name), rows, ranks=(2, 4),
                       weight=1 if name == "median" else 0.2, dtypes=FLOATING,
                       differentiable=False)
