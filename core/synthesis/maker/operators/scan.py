# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Scans along a dimension other than the batch, and what looks at neighbours along one."""

from maker.operators.build import (FLOAT32, features, images, operator, ranked, sequences,
                                   spelled, wide_dim)
from maker.spec import ANY, FLOATING, NON_NEGATIVE, POSITIVE, Step, within

# name: kind, text behind, domain of the result ("same"), longest dimension, weight.
SCANS = {
    "cumsum": ("cumulative sum", "", ANY, 65536, 3),
    "cumprod": ("cumulative product", "", ANY, 64, 0.7),
    "cummax": ("cumulative maximum", ".values", "same", 65536, 1),
    "cummin": ("cumulative minimum", ".values", "same", 65536, 1),
    "logcumsumexp": ("logcumsumexp", "", ANY, 65536, 1),
}


def scan(name, behind, result, longest):
    def write(draw, value):
        dim, method = wide_dim(draw, value, 2, longest), draw.chance(0.3)
        if dim is None:
            return None
        start = f"{{x}}.{name}(" if method else f"torch.{name}({{x}}, "
        after = value.domain if result == "same" and value.domain in (ANY, NON_NEGATIVE) else ANY
        if name == "cumsum" and within(value.domain, NON_NEGATIVE):
            after = POSITIVE if within(value.domain, POSITIVE) else NON_NEGATIVE
        return Step(f"{start}dim={spelled(draw, value, dim)}){behind}", None, (), after)

    return write


def difference(draw, value):
    dim, order = wide_dim(draw, value, 4), draw.weighted({1: 3, 2: 1})
    if dim is None:
        return None
    text = f"n={order}, " if order > 1 else ""
    return Step(f"torch.diff({{x}}, {text}dim={spelled(draw, value, dim)})")


def trapezoid(name):
    def write(draw, value):
        dim, step = wide_dim(draw, value), draw.choice((0.1, 0.5, 1.0))
        if dim is None:
            return None
        return Step(f"torch.{name}({{x}}, dx={step}, dim={spelled(draw, value, dim)})")

    return write


def gradient(draw, value):
    dim, step = wide_dim(draw, value, 3), draw.choice((0.5, 1.0, 2.0))
    if dim is None:
        return None
    return Step(f"torch.gradient({{x}}, spacing={step}, dim={dim})[0]")


def short_rows(draw):
    return (draw.size(64, 1024), draw.size(16, 64))


def operators():
    rows = ranked(features, sequences, images)
    for name, (kind, behind, result, longest, weight) in SCANS.items():
        yield operator(f"torch.{name}", kind, "scan", scan(name, behind, result, longest),
                       short_rows if name == "cumprod" else rows, ranks=(2, 5), weight=weight,
                       wanted=ANY,
                       dtypes=FLOAT32 if name in ("cumprod", "logcumsumexp") else FLOATING,
                       # Derivatives are put by indices, or summed in an order that varies.
                       differentiable=name not in ("cummax", "cummin", "cumprod"))
    yield operator("torch.diff", "difference of neighbours", "scan", difference, rows, ranks=(2, 5))
    for name, weight in (("trapezoid", 0.5), ("trapz", 0.2)):
        yield operator(f"torch.{name}", "trapezoidal rule", "scan", trapezoid(name), rows,
                       ranks=(2, 4), weight=weight)
    yield operator("torch.cumulative_trapezoid", "cumulative trapezoidal rule", "scan",
                   trapezoid("cumulative_trapezoid"), rows, ranks=(2, 4), weight=0.5)
    yield operator("torch.gradient", "gradient by central differences", "scan", gradient, rows,
                   ranks=(2, 4), dtypes=FLOAT32, weight=0.4)
