# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""torch.linalg and what belongs to it. Products are in product.py, vector norms in reduction.py."""

from maker.operators.build import FLOAT32, like, operator, row, sequences, spelled
from maker.spec import ANY, NON_NEGATIVE, Step

LINALG = "linalg"


def matrix_norm(draw, value):
    order = draw.choice(("", ", ord='fro'", ", ord=1", ", ord=float('inf')"))
    if min(value.shape[-2:]) < 2:
        return None
    return Step(f"torch.linalg.matrix_norm({{x}}{order})", domain=NON_NEGATIVE)


def threes(value):
    return [dim for dim in range(1, value.rank) if value.shape[dim] == 3]


def cross(name):
    def write(draw, value):
        dims = threes(value)
        if not dims:
            return None
        return Step(f"{name}({{x}}, {{other}}, dim={spelled(draw, value, dims[-1])})", None,
                    (like(value),))

    return write


def triples(draw):
    return (draw.size(512, 65536), 3) if draw.chance(0.7) else (3, draw.size(512, 65536))


def square(write, most):
    """For square matrices no larger than where numbers of about 1 stay so."""
    def only(draw, value):
        if value.shape[-1] != value.shape[-2] or not 2 <= value.shape[-1] <= most:
            return None
        return write(draw, value)

    return only


def squares(most):
    def shape(draw):
        side = draw.integer(2, most)
        return (draw.size(128, 4096), side, side)

    return shape


def matrix_power(name):
    return lambda draw, value: Step(f"{name}({{x}}, {draw.choice((2, 3))})")


def blocks(draw):
    side = draw.size(16, 128)
    return (draw.size(4, 32), side, side)


def matrix_exp(name):
    return lambda draw, value: Step(f"{name}({{x}})")


def solve(text):
    """One system with many right-hand sides."""
    def write(draw, value):
        side = value.shape[-2]
        if not 2 <= side <= 64 or value.shape[-1] < 2:
            return None
        return Step(text, None, (like(value, "matrix", ANY, (side, side)),))

    return write


def sides(draw):
    return (draw.integer(4, 32), draw.size(256, 16384))


def determinant(text):
    return lambda draw, value: Step(text)


def vander(draw, value):
    count = draw.integer(3, 5)
    if row(value) * count > 16_000_000:
        return None
    return Step(f"torch.linalg.vander({{x}}, N={count})")


def operators():
    yield operator("torch.linalg.matrix_norm", "matrix norm", LINALG, matrix_norm, sequences,
                   ranks=(3, 5), weight=2)
    for name in ("torch.linalg.cross", "torch.cross"):
        yield operator(name, "cross product", LINALG, cross(name), triples, ranks=(2, 4))
    for name, weight in (("torch.linalg.matrix_power", 1), ("torch.matrix_power", 0.3)):
        yield operator(name, "matrix power", LINALG, square(matrix_power(name), 256), blocks,
                       ranks=(3, 5), dtypes=FLOAT32, weight=weight)
    for name in ("torch.linalg.matrix_exp", "torch.matrix_exp"):
        yield operator(name, "matrix exponential", LINALG, square(matrix_exp(name), 8), squares(8),
                       ranks=(3, 5), dtypes=FLOAT32, weight=0.5)
    for name in ("torch.linalg.det", "torch.det"):
        yield operator(name, "determinant", LINALG, square(determinant(f"{name}({{x}})"), 8),
                       squares(6), ranks=(3, 5), dtypes=FLOAT32, weight=0.5, differentiable=False)
    for name in ("torch.linalg.slogdet", "torch.slogdet"):
        yield operator(name, "log of the determinant", LINALG,
                       square(determinant(f"{name}({{x}}).logabsdet"), 32), squares(16),
                       ranks=(3, 5), dtypes=FLOAT32, weight=0.4, differentiable=False)
    yield operator("torch.linalg.solve", "linear system", LINALG,
                   solve("torch.linalg.solve({matrix}, {x})"), sides, ranks=(3, 3), dtypes=FLOAT32,
                   weight=0.5, differentiable=False)
    yield operator("torch.linalg.vander", "vandermonde matrix", LINALG, vander,
                   lambda draw: (draw.size(1024, 65536),), ranks=(2, 4), dtypes=FLOAT32, weight=0.4,
                   differentiable=False)
