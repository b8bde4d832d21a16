# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Elements by their numbers or by a condition, and tables of embeddings."""

from maker.operators.build import (any_shape, broadcast, images, indices, like, operator, ranked,
                                   row, sequences, spelled, wide_dim)
from maker.operators.layout import moved, zeroed
from maker.spec import ANY, BOOLEAN, FLOATING, INDEX, Extra, Operator, Step, UNIT, Value

F = "torch.nn.functional."
INDEXING = "indexing"


def picked(function):
    """gather() and take_along_dim(): as many numbers as elements along all other dimensions."""
    def write(draw, value):
        dim, part = wide_dim(draw, value, 4), draw.choice((1, 1, 2, 4))
        if dim is None:
            return None
        shape = list(value.shape)
        shape[dim] = max(1, shape[dim] // part)
        index = indices(value, shape, value.shape[dim])
        if function == "gather":
            text = f"torch.gather({{x}}, {dim}, {{index}})" if draw.chance(0.6) else \
                f"{{x}}.gather({spelled(draw, value, dim)}, {{index}})"
        else:
            text = f"torch.take_along_dim({{x}}, {{index}}, dim={dim})"
        return Step(text, None, (index,), moved(value.domain))

    return write


def index_select(draw, value):
    dim, count = wide_dim(draw, value, 4), draw.size(8, 2048)
    if dim is None or row(value) // value.shape[dim] * count > 16_000_000:
        return None
    return Step(f"torch.index_select({{x}}, {spelled(draw, value, dim)}, {{index}})", None,
                (indices(value, (count,), value.shape[dim]),), moved(value.domain))


def getitem(draw, value):
    """x[:, :, ::2], x[..., :n], x[:, index]."""
    dim, form = wide_dim(draw, value, 4), draw.weighted({"step": 2, "head": 2, "tail": 1,
                                                         "index": 2, "new": 0.3})
    count, every = draw.size(8, 1024), draw.choice((2, 3))
    if dim is None:
        return None
    before = ":, " * dim
    if dim == value.rank - 1 and draw.chance(0.5):
        before = "..., "
    size = value.shape[dim]
    if form == "index":
        if row(value) // size * count > 16_000_000:
            return None
        return Step(f"{{x}}[{before}{{index}}]", None, (indices(value, (count,), size),),
                    moved(value.domain))
    part = {"step": f"::{every}", "head": f":{size // 2}", "tail": f"{size // 4}:",
            "new": "None, :"}[form]
    return Step(f"{{x}}[{before}{part}]", domain=moved(value.domain))


def take(draw, value):
    count = draw.size(64, 4096)
    return Step("torch.take({x}, {index})", None,
                (indices(value, (value.shape[0], count), value.shape[0] * row(value)),),
                moved(value.domain))


def condition(draw, value):
    kind = broadcast(draw, value, "mask", BOOLEAN, 3)
    return Extra("mask", kind.shape, "bool", BOOLEAN)


def where(draw, value):
    mask, other, number = condition(draw, value), broadcast(draw, value), draw.choice((0.0, -1.0))
    if draw.chance(0.4):
        return Step(f"torch.where({{mask}}, {{x}}, {number})", None, (mask,))
    return Step("torch.where({mask}, {x}, {other})", None, (mask, other))


def masked_fill(draw, value):
    mask, number = condition(draw, value), draw.choice((0.0, 0.0, -1.0, -100.0))
    text = f"{{x}}.masked_fill({{mask}}, {number})" if draw.chance(0.8) else \
        f"torch.masked_fill({{x}}, {{mask}}, {number})"
    return Step(text, None, (mask,), zeroed(value.domain) if number == 0 else ANY)


def index_fill(draw, value):
    dim, number = wide_dim(draw, value, 8), draw.choice((0.0, 1.0))
    if dim is None:
        return None
    return Step(f"torch.index_fill({{x}}, {dim}, {{index}}, {number})", None,
                (indices(value, (max(1, value.shape[dim] // 4),), value.shape[dim]),),
                zeroed(value.domain))


def scattered(name):
    """Parts of a tensor replaced by another."""
    def write(draw, value):
        dim, at = wide_dim(draw, value, 4), draw.chance(0.5)
        if dim is None:
            return None
        shape, size = list(value.shape), value.shape[dim]
        if name == "select_scatter":
            del shape[dim]
            text = f"dim={dim}, index={size // 2 if at else 0}"
        else:
            shape[dim] = size // 2
            start = size - size // 2 if at else 0
            text = f"dim={dim}, start={start}, end={start + size // 2}"
        return Step(f"torch.{name}({{x}}, {{source}}, {text})", None,
                    (like(value, "source", ANY, shape),))

    return write


def diagonal_scatter(draw, value):
    if min(value.shape[-2:]) < 4:
        return None
    shape = (*value.shape[:-2], min(value.shape[-2:]))
    return Step("torch.diagonal_scatter({x}, {source}, dim1=-2, dim2=-1)", None,
                (like(value, "source", ANY, shape),))


def grid_sample(draw, value):
    mode = draw.choice(("bilinear", "bilinear", "nearest", "bicubic")[:4 if value.rank == 4 else 3])
    padding = draw.choice(("zeros", "border", "reflection"))
    corners, side = draw.choice(("True", "False")), draw.size(14, 128)
    if min(value.shape[2:]) < 2 or value.shape[1] * side * side > 8_000_000 or \
            mode == "bicubic" and value.rank == 5:
        return None
    sizes = (side,) * 2 if value.rank == 4 else (8, 8, 8)
    grid = like(value, "grid", UNIT, (value.shape[0], *sizes, value.rank - 2))
    return Step(f"F.grid_sample({{x}}, {{grid}}, mode='{mode}', padding_mode='{padding}', "
                f"align_corners={corners})", None, (grid,),
                ANY if mode == "bicubic" else zeroed(value.domain))


def affine_grid(draw, value):
    """Places to sample at, from one affine map for each batch element."""
    side, corners = draw.size(32, 512), draw.choice(("True", "False"))
    if value.shape[1:] != (2, 3):
        return None
    return Step(f"F.affine_grid({{x}}, [{value.shape[0]}, 3, {side}, {side}], "
                f"align_corners={corners})")


def table(draw):
    return (draw.choice((64, 128, 256, 384, 512, 768, 1024)),)


def table_lookup(text):
    """The value is a table of embeddings, the batch its rows and those of the numbers."""
    def write(draw, value):
        length = draw.size(4, 64)
        if not 8 <= value.shape[1] <= 8192:
            return None
        index = indices(value, (value.shape[0], length), value.shape[0])
        return Step(text, None, (index,), moved(value.domain))

    return write


def embedding_bag_function(draw, value):
    length, mode = draw.size(4, 32), draw.choice(("sum", "mean"))
    if not 8 <= value.shape[1] <= 4096:
        return None
    index = indices(value, (value.shape[0], length), value.shape[0])
    return Step(f"F.embedding_bag({{index}}, {{x}}, mode='{mode}')", None, (index,),
                moved(value.domain))


def from_numbers(name, write, longest, weight=1.0):
    """An operator whose value is a tensor of numbers below a bound."""
    def follow(draw, value):
        if value.domain != INDEX or value.below < 2 or not 1 <= value.rank <= 3:
            return None
        return write(draw, value)

    def starts(draw, batch, dtype):
        return Value((batch, draw.size(4, longest)), "int64", INDEX,
                     draw.choice((512, 1000, 8192, 32000, 50257)))

    return Operator(name, name.rsplit(".", 1)[1].lower().replace("embeddingbag", "embedding bag"),
                    "embedding", follow, starts, weight, False)


def embedding_module(draw, value):
    width = draw.choice((64, 128, 256, 512, 768, 1024))
    return Step("{m}({x})", f"nn.Embedding({value.below}, {width})", name="embedding")


def embedding_bag_module(draw, value):
    width, mode = draw.choice((64, 128, 256, 512)), draw.choice(("sum", "mean"))
    if value.rank != 2:
        return None
    return Step("{m}({x})", f"nn.EmbeddingBag({value.below}, {width}, mode='{mode}')",
                name="embedding")


def operators():
    deep = ranked(sequences, images)
    # The derivatives of those that read elements by number are summed by atomics on cuda.
    for name, weight in (("gather", 2), ("take_along_dim", 0.7)):
        yield operator(f"torch.{name}", "gather", INDEXING, picked(name), any_shape, ranks=(2, 5),
                       weight=weight, differentiable=False)
    yield operator("torch.index_select", "index select", INDEXING, index_select, any_shape,
                   ranks=(2, 5), weight=2, differentiable=False)
    yield operator("torch.Tensor.__getitem__", "slice", INDEXING, getitem, any_shape, ranks=(2, 5),
                   weight=3, differentiable=False)
    yield operator("torch.take", "take", INDEXING, take, any_shape, ranks=(2, 4), weight=0.4,
                   differentiable=False)
    yield operator("torch.where", "where", INDEXING, where, any_shape, weight=2)
    yield operator("torch.masked_fill", "masked fill", INDEXING, masked_fill, any_shape, weight=2)
    yield operator("torch.index_fill", "index fill", INDEXING, index_fill, any_shape, ranks=(2, 5),
                   weight=0.4)
    yield operator("torch.select_scatter", "select scatter", INDEXING, scattered("select_scatter"),
                   deep, ranks=(3, 5), weight=0.4)
    yield operator("torch.slice_scatter", "slice scatter", INDEXING, scattered("slice_scatter"),
                   deep, ranks=(2, 5), weight=0.4)
    yield operator("torch.diagonal_scatter", "diagonal scatter", INDEXING, diagonal_scatter, deep,
                   ranks=(3, 5), weight=0.3)
    yield operator(F + "grid_sample", "grid sample", INDEXING, grid_sample, images, ranks=(4, 5),
                   dtypes=("float32",), differentiable=False)
    yield operator(F + "affine_grid", "affine grid", INDEXING, affine_grid, lambda draw: (2, 3),
                   ranks=(3, 3), dtypes=("float32",), weight=0.5)
    yield operator(F + "embedding", "embedding", "embedding",
                   table_lookup("F.embedding({index}, {x})"), table, ranks=(2, 2), dtypes=FLOATING)
    yield operator(F + "embedding_bag", "embedding bag", "embedding", embedding_bag_function, table,
                   ranks=(2, 2), differentiable=False)
    yield from_numbers("torch.nn.Embedding", embedding_module, 1024, 2)
    yield from_numbers("torch.nn.EmbeddingBag", embedding_bag_module, 32)
