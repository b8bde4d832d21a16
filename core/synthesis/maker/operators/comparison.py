# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Comparisons and logic, with boolean results."""

from maker.operators.build import any_shape, broadcast, called, operator, spelled, wide_dim
from maker.spec import ANY, BOOLEAN, INDEX, NON_NEGATIVE, Extra, Operator, Step, Value

COMPARISON = "comparison"

# name: kind, texts besides those of the name, weight.
COMPARISONS = {
    "gt": ("greater", ("{x} > {other}",), 2), "greater": ("greater", (), 0.2),
    "lt": ("less", ("{x} < {other}",), 2), "less": ("less", (), 0.2),
    "ge": ("greater or equal", ("{x} >= {other}",), 1),
    "greater_equal": ("greater or equal", (), 0.2),
    "le": ("less or equal", ("{x} <= {other}",), 1), "less_equal": ("less or equal", (), 0.2),
}
LOGIC = {"logical_and": "and", "logical_or": "or", "logical_xor": "xor"}
BITS = {"bitwise_and": ("and", "&"), "bitwise_or": ("or", "|"), "bitwise_xor": ("xor", "^")}


def compared(texts):
    def write(draw, value):
        other, text = broadcast(draw, value), draw.choice(texts)
        number, alone = draw.choice((0.0, 0.5, -0.5)), draw.chance(0.4)
        if alone:
            return Step(text.replace("{other}", str(number)), domain=BOOLEAN)
        return Step(text, None, (other,), BOOLEAN)

    return write


def isclose(draw, value):
    tolerance = draw.choice((0.1, 0.5, 1.0))
    return Step(f"torch.isclose({{x}}, {{other}}, atol={tolerance})", None,
                (broadcast(draw, value),), BOOLEAN)


def signbit(draw, value):
    return Step(draw.choice(("torch.signbit({x})", "{x}.signbit()")), domain=BOOLEAN)


def of_booleans(name, kind, family, write, ranks=(1, 5), weight=1.0, shape=any_shape):
    """An operator behind a boolean value."""
    def follow(draw, value):
        fits = value.domain == BOOLEAN and ranks[0] <= value.rank <= ranks[1]
        return write(draw, value) if fits else None

    def starts(draw, batch, dtype):
        return Value((batch, *shape(draw)), "bool", BOOLEAN)

    return Operator(f"torch.{name}", kind, family, follow, starts, weight, False)


def second(draw, value):
    return Extra("other", broadcast(draw, value).shape, "bool", BOOLEAN)


def logical(texts):
    def write(draw, value):
        return Step(draw.choice(texts), None, (second(draw, value),), BOOLEAN)

    return write


def single(texts):
    return lambda draw, value: Step(draw.choice(texts), domain=BOOLEAN)


def few(draw):
    return (draw.size(256, 65536), draw.integer(2, 6))


def reduced(name):
    def write(draw, value):
        # Over more than a few elements the result is nearly always the same.
        dim, keep = wide_dim(draw, value, 2, 8), draw.chance(0.3)
        if dim is None:
            return None
        return Step(f"torch.{name}({{x}}, dim={spelled(draw, value, dim)}"
                    f"{', keepdim=True' if keep else ''})", domain=BOOLEAN)

    return write


def count(draw, value):
    dim = wide_dim(draw, value)
    if dim is None:
        return None
    return Step(f"torch.count_nonzero({{x}}, dim={dim})", None, (), INDEX, value.shape[dim] + 1)


def operators():
    for name, (kind, texts, weight) in COMPARISONS.items():
        yield operator("torch." + name, kind, COMPARISON,
                       compared(called("torch." + name, "{other}") + texts * 2), weight=weight,
                       differentiable=False)
    yield operator("torch.isclose", "is close", COMPARISON, isclose, weight=0.3,
                   differentiable=False, dtypes=("float32",))
    yield operator("torch.signbit", "sign bit", COMPARISON, signbit, weight=0.3, wanted=ANY,
                   redundant=NON_NEGATIVE, differentiable=False)
    for name, kind in LOGIC.items():
        yield of_booleans(name, kind, COMPARISON,
                          logical((f"torch.{name}({{x}}, {{other}})",
                                   f"{{x}}.{name}({{other}})")))
    for name, (kind, sign) in BITS.items():
        yield of_booleans(name, kind, COMPARISON,
                          logical((f"torch.{name}({{x}}, {{other}})", f"{{x}} {sign} {{other}}")),
                          weight=0.7)
    yield of_booleans("logical_not", "not", COMPARISON,
                      single(("torch.logical_not({x})", "{x}.logical_not()")))
    yield of_booleans("bitwise_not", "not", COMPARISON, single(("torch.bitwise_not({x})", "~{x}")),
                      weight=0.7)
    for name in ("any", "all"):
        yield of_booleans(name, name, "reduction", reduced(name), (2, 5), 1, few)
    yield of_booleans("count_nonzero", "count of nonzero elements", "reduction", count, (2, 5))
