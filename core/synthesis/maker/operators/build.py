# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tables of operators are made with: shapes to begin with, choices within texts, inputs
that broadcast, and guards. All of it draws the same number of times whatever the batch is."""

from math import prod

from maker.spec import (ANY, FLOATING, INDEX, Extra, Operator, Step, Value, within)

FLOAT32 = ("float32",)
LARGEST_ROW = 4_000_000   # elements of one batch element

# -- shapes of one batch element -------------------------------------------------------------------


def rest(high, *sizes):
    """The largest size of a further dimension."""
    return max(1, min(high, LARGEST_ROW // prod(sizes)))


def vectors(draw):
    return (draw.size(1024, 131072),)


def features(draw):
    return (draw.size(1024, 8192),)


def sequences(draw):
    length = draw.size(32, 2048)
    return (length, draw.size(64, rest(2048, length)))


def signals(draw):
    channels = draw.size(4, 512)
    return (channels, draw.size(256, rest(32768, channels)))


def images(draw):
    channels = draw.size(3, 512)
    height = draw.size(14, min(256, round(rest(65536, channels) ** 0.5)))
    square = draw.chance(0.7)
    width = draw.size(14, min(256, rest(65536, channels, height)))
    return (max(channels, 6), height, height if square else width)


def volumes(draw):
    channels = draw.size(2, 64)
    side = draw.size(6, min(64, round(rest(262144, channels) ** (1 / 3))))
    depth = draw.size(6, 32)
    cube = draw.chance(0.5)
    return (max(channels, 5), side if cube else min(depth, side), side, side)


def any_shape(draw):
    kind = draw.weighted({vectors: 2, sequences: 3, signals: 1, images: 3, volumes: 1})
    return kind(draw)


def ranked(*kinds):
    """One of several makers of shapes."""
    return lambda draw: draw.choice(kinds)(draw)


# -- texts -----------------------------------------------------------------------------------------


def fill(draw, value, text, options):
    """`text` with its <names> replaced by draws: an option is a list of choices, or a function of
    the draw and the value. All are drawn, in their order, whether `text` has them or not."""
    for name, choices in options.items():
        chosen = choices(draw, value) if callable(choices) else draw.choice(choices)
        text = text.replace(f"<{name}>", str(chosen))
    return text.replace(", )", ")")


def wide_dim(draw, value, low=2, high=LARGEST_ROW):
    """A dimension other than the batch that has from `low` to `high` elements, or None."""
    dims = [dim for dim in range(1, value.rank) if low <= value.shape[dim] <= high]
    if not dims:
        return None
    return draw.weighted({dims[-1]: 4, dims[0]: 2, draw.choice(dims): 1})


def spelled(draw, value, dim):
    """A dimension from the front or from the back."""
    return dim - value.rank if draw.chance(0.6 if dim == value.rank - 1 else 0.2) else dim


def row(value):
    return prod(value.shape[1:])


# -- further inputs --------------------------------------------------------------------------------


def broadcast(draw, value, name="other", domain=ANY, same=2.0):
    """A further input that broadcasts with `value` to its shape."""
    shape, rank = value.shape, value.rank
    forms = {"same": shape, "last": shape[-1:], "row": shape[1:],
             "batch": shape[:1] + (1,) * (rank - 1),
             "channels": (1,) + shape[1:2] + (1,) * (rank - 2),
             "channel": shape[1:2] + (1,) * (rank - 2), "column": shape[:-1] + (1,)}
    weights = {"same": same}
    if rank > 1:
        weights |= {"last": 2, "batch": 0.5, "row": 1}
    if rank > 2:
        weights |= {"channels": 2, "channel": 1, "column": 1}
    form = draw.weighted(weights)
    layout = "transposed" if draw.chance(0.15) and rank > 2 and form == "same" else "contiguous"
    return Extra(name, forms[form], value.dtype, domain, layout)


def like(value, name="other", domain=ANY, shape=None):
    return Extra(name, value.shape if shape is None else tuple(shape), value.dtype, domain)


def indices(value, shape, below, name="index"):
    return Extra(name, tuple(shape), "int64", INDEX, "contiguous", below)


# -- operators -------------------------------------------------------------------------------------


def operator(name, kind, family, write, shape=any_shape, *, ranks=(1, 5), wanted=ANY,
             redundant=None, dtypes=FLOATING, result=None, weight=1.0, differentiable=True):
    """An Operator: `write(draw, value)` is its Step, called only for values of a fitting rank (both
    ends included), element type and domain. `redundant`: the domain on which it changes nothing.
    `shape(draw)` is what a task may begin with behind the batch."""

    def follow(draw, value):
        if not ranks[0] <= value.rank <= ranks[1] or value.dtype not in dtypes:
            return None
        if not within(value.domain, wanted) or 0 in value.shape:
            return None
        if redundant is not None and within(value.domain, redundant):
            return None
        return write(draw, value)

    def starts(draw, batch, dtype):
        return Value((batch, *shape(draw)), dtype if dtype in dtypes else dtypes[0], wanted)

    return Operator(name, kind, family, follow, starts, weight, differentiable)


def templated(name, kind, family, texts, options=None, shape=any_shape, *, domain=ANY, module=None,
              attribute="", extras=(), **guards):
    """An operator written by texts with <options>; one of `texts` is drawn. `extras`: functions of
    the draw and the value that make further inputs. `domain`: of the result, or a function of the
    value's domain."""
    texts = (texts,) if isinstance(texts, str) else tuple(texts)

    def write(draw, value):
        text = draw.choice(texts)
        made = fill(draw, value, text + "\n" + (module or ""), options or {}).split("\n", 1)
        further = tuple(extra(draw, value) for extra in extras)
        after = domain(value.domain) if callable(domain) else domain
        return Step(made[0], made[1] or None, further, after, name=attribute)

    return operator(name, kind, family, write, shape, **guards)


# Functions of torch that tensors do not have as methods.
NO_METHOD = frozenset(f"torch.{name}" for name in (
    "selu celu threshold rsub std_mean var_mean trapezoid trapz cumulative_trapezoid stack cat "
    "tensordot einsum cdist").split())


def called(name, arguments=""):
    """Texts that call `name`, one of torch.X (a function and its method), torch.nn.functional.X,
    torch.special.X, ... with arguments behind the value."""
    behind = ", " + arguments if arguments else ""
    if name.startswith("torch.nn.functional."):
        return (f"F.{name.rsplit('.', 1)[1]}({{x}}{behind})",)
    if name.count(".") == 1 and name not in NO_METHOD:
        return f"{name}({{x}}{behind})", f"{{x}}.{name.split('.')[1]}({arguments})"
    return (f"{name}({{x}}{behind})",)
