# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Products of matrices and vectors."""

from math import prod

from maker.operators.build import (features, images, like, operator, ranked, rest, row,
                                   sequences)
from maker.spec import ANY, Extra, Step

PRODUCT = "product"
MOST = 8192  # the longest inner dimension: results of products of normal numbers stay below 100
F = "torch.nn.functional."


def width_out(draw, value):
    """Columns of a result, so that a row of it does not pass the largest."""
    return draw.size(16, rest(8192, max(1, row(value) // value.shape[-1])))


def fits(value, low=8):
    return low <= value.shape[-1] <= 16384


def linear_module(draw, value):
    out, bias = width_out(draw, value), draw.chance(0.75)
    if not fits(value):
        return None
    return Step("{m}({x})", f"nn.Linear({value.shape[-1]}, {out}{'' if bias else ', bias=False'})",
                name="linear")


def linear(draw, value):
    out, bias = width_out(draw, value), draw.chance(0.6)
    if not fits(value) or value.shape[-1] > MOST:
        return None
    extras = (like(value, "weight", ANY, (out, value.shape[-1])), like(value, "bias", ANY, (out,)))
    return Step("F.linear({x}, {weight}, {bias})" if bias else "F.linear({x}, {weight})", None,
                extras[:1 + bias])


def weight_of(draw, value, out, name="weight"):
    """A matrix to multiply by from the right."""
    layout = "transposed" if draw.chance(0.3) else "contiguous"
    return Extra(name, (value.shape[-1], out), value.dtype, ANY, layout)


def times_matrix(texts):
    def write(draw, value):
        out = width_out(draw, value)
        weight, text = weight_of(draw, value, out), draw.choice(texts)
        if not fits(value) or value.shape[-1] > MOST:
            return None
        return Step(text, None, (weight,))

    return write


def addmm(draw, value):
    out, scales = width_out(draw, value), draw.choice(("", ", alpha=0.1", ", beta=0.5, alpha=0.02"))
    weight = weight_of(draw, value, out)
    bias = like(value, "bias", ANY, draw.choice(((out,), (1, out))))
    whole = draw.chance(0.3)
    if not fits(value) or value.shape[-1] > MOST:
        return None
    if whole:
        bias = like(value, "bias", ANY, (value.shape[0], out))
    return Step(f"torch.addmm({{bias}}, {{x}}, {{weight}}{scales})", None, (bias, weight))


def batched(value, shape, name="other", layout="contiguous"):
    return Extra(name, (*value.shape[:-2], *shape), value.dtype, ANY, layout)


def bmm(texts):
    def write(draw, value):
        out = draw.size(16, min(2048, rest(2048, max(1, row(value) // value.shape[-1]))))
        layout = "transposed" if draw.chance(0.3) else "contiguous"
        text = draw.choice(texts)
        if not fits(value) or value.shape[-1] > MOST:
            return None
        return Step(text, None, (batched(value, (value.shape[-1], out), layout=layout),))

    return write


def matmul(draw, value):
    one, two = times_matrix(("torch.matmul({x}, {weight})", "{x} @ {weight}"))(draw, value), None
    if value.rank >= 3:
        two = bmm(("torch.matmul({x}, {other})", "{x} @ {other}"))(draw, value)
    vector, which = draw.chance(0.1), draw.chance(0.6)
    if not fits(value) or value.shape[-1] > MOST:
        return None
    if vector:
        return Step("torch.matmul({x}, {vector})", None,
                    (like(value, "vector", ANY, value.shape[-1:]),))
    return one if which or two is None else two


def baddbmm(draw, value):
    out = draw.size(16, min(2048, rest(2048, value.shape[1])))
    scales = draw.choice(("", ", alpha=0.1", ", beta=0.5, alpha=0.05"))
    bias = draw.weighted({"row": 2, "whole": 1, "one": 1})
    if not fits(value) or value.shape[-1] > MOST:
        return None
    shape = {"row": (1, 1, out), "whole": (*value.shape[:2], out), "one": (1, value.shape[1], out)}
    return Step(f"torch.baddbmm({{bias}}, {{x}}, {{other}}{scales})", None,
                (like(value, "bias", ANY, shape[bias]),
                 batched(value, (value.shape[-1], out))))


def vector_product(texts, bias=False):
    def write(draw, value):
        text = draw.choice(texts)
        if not fits(value) or value.shape[-1] > MOST * 8:
            return None
        extras = (like(value, "vector", ANY, value.shape[-1:]),)
        if bias:
            extras = (like(value, "bias", ANY, value.shape[:1]),) + extras
        return Step(text, None, extras)

    return write


def bilinear(module):
    def write(draw, value):
        other, out = draw.size(16, 256), draw.size(16, 128)
        if not 4 <= value.shape[-1] <= 512:
            return None
        second = like(value, "second", ANY, (*value.shape[:-1], other))
        if module:
            return Step("{m}({x}, {second})",
                        f"nn.Bilinear({value.shape[-1]}, {other}, {out})", (second,),
                        name="bilinear")
        weight = like(value, "weight", ANY, (out, value.shape[-1], other))
        return Step("F.bilinear({x}, {second}, {weight})", None, (second, weight))

    return write


def pairs(draw):
    return draw.choice(((draw.size(64, 256),), (draw.size(16, 128), draw.size(32, 256))))


def matrices(draw):
    rows = draw.size(64, 1024)
    return (rows, draw.size(64, rest(1024, rows)))


EINSUM = {
    3: (("bij,bjk->bik", "bjk"), ("bij,jk->bik", "jk"), ("bij,bkj->bik", "bkj"),
        ("bij,bij->bi", "bij"), ("bij,bik->bjk", "bik"), ("bij,bi->bj", "bi"),
        ("bij,bj->bi", "bj"), ("bij,bik->bijk", "bik")),
    4: (("bhij,bhjk->bhik", "bhjk"), ("bhij,bhkj->bhik", "bhkj"), ("bchw,cd->bdhw", "cd"),
        ("bchw,bchw->bc", "bchw"), ("bhij,hjk->bhik", "hjk"), ("bchw,bc->bhw", "bc")),
    2: (("bi,ij->bj", "ij"), ("bi,bj->bij", "bj"), ("bi,bi->b", "bi"), ("bi,ji->bj", "ji")),
}


def einsum(draw, value):
    text, other = draw.choice(EINSUM[value.rank])
    sizes = dict(zip(text.split(",")[0], value.shape))
    new = draw.size(16, min(1024, rest(1024, max(1, row(value) // value.shape[-1]))))
    inner = [letter for letter in sizes if letter not in text.split("->")[1]]
    for letter in other:
        sizes.setdefault(letter, new)
    result = prod(sizes[letter] for letter in text.split("->")[1] if letter != "b")
    terms = prod(sizes[letter] for letter in inner)
    if terms > MOST * 4 or result > 16_000_000 or prod(value.shape[1:]) < 16:
        return None
    if "b" not in other and prod(sizes[letter] for letter in other) > 64_000_000:
        return None
    return Step(f"torch.einsum('{text}', {{x}}, {{other}})", None,
                (like(value, "other", ANY, [sizes[letter] for letter in other]),))


def tensordot(draw, value):
    count = draw.integer(1, value.rank - 1)
    if prod(value.shape[value.rank - count:]) > MOST * 2:
        count = 1
    inner, out = value.shape[value.rank - count:], draw.size(16, 512)
    if prod(inner) > MOST * 2 or prod(inner) < 8:
        return None
    return Step(f"torch.tensordot({{x}}, {{other}}, dims={count})", None,
                (like(value, "other", ANY, (*inner, out)),))


def inner(draw, value):
    out = draw.size(16, min(1024, rest(1024, max(1, row(value) // value.shape[-1]))))
    if not fits(value) or value.shape[-1] > MOST:
        return None
    return Step("torch.inner({x}, {other})", None,
                (like(value, "other", ANY, (out, value.shape[-1])),))


def outer(name):
    def write(draw, value):
        return Step(f"torch.{name}({{x}}, {{other}})", None,
                    (like(value, "other", ANY, (draw.size(256, 8192),)),))

    return write


def addr(draw, value):
    width, scales = draw.size(256, 8192), draw.choice(("", ", alpha=0.5", ", beta=0.5"))
    return Step(f"torch.addr({{bias}}, {{x}}, {{other}}{scales})", None,
                (like(value, "bias", ANY, (value.shape[0], width)),
                 like(value, "other", ANY, (width,))))


def kron(draw, value):
    rows, columns = draw.integer(2, 8), draw.integer(2, 8)
    if row(value) > 65536:
        return None
    return Step("torch.kron({x}, {other})", None, (like(value, "other", ANY, (rows, columns)),))


def vecdot(draw, value):
    form = draw.weighted({"same": 3, "row": 1, "vector": 1})
    if value.shape[-1] < 8:
        return None
    shape = {"same": value.shape, "row": value.shape[1:], "vector": value.shape[-1:]}[form]
    return Step("torch.linalg.vecdot({x}, {other})", None, (like(value, "other", ANY, shape),))


def multi_dot(draw, value):
    first, second = draw.size(64, 1024), draw.size(16, 1024)
    third = draw.chance(0.4)
    if not 8 <= value.shape[-1] <= MOST:
        return None
    extras = (like(value, "first", ANY, (value.shape[-1], first)),
              like(value, "second", ANY, (first, second)),
              like(value, "third", ANY, (second, 64)))[:2 + third]
    inside = ", ".join(f"{{{extra.name}}}" for extra in extras)
    return Step(f"torch.linalg.multi_dot([{{x}}, {inside}])", None, extras)


def operators():
    rows = ranked(features, sequences)
    yield operator("torch.nn.Linear", "linear", PRODUCT, linear_module, rows, ranks=(2, 5),
                   weight=5)
    yield operator(F + "linear", "linear", PRODUCT, linear, rows, ranks=(2, 5), weight=3)
    yield operator("torch.matmul", "matrix product", PRODUCT, matmul,
                   ranked(features, sequences, matrices), ranks=(2, 5), weight=4)
    yield operator("torch.linalg.matmul", "matrix product", PRODUCT,
                   bmm(("torch.linalg.matmul({x}, {other})",)), matrices, ranks=(3, 4), weight=0.4)
    yield operator("torch.mm", "matrix product", PRODUCT,
                   times_matrix(("torch.mm({x}, {weight})", "{x}.mm({weight})")), features,
                   ranks=(2, 2), weight=2)
    yield operator("torch.addmm", "matrix product and addition", PRODUCT, addmm, features,
                   ranks=(2, 2), weight=1.5)
    yield operator("torch.bmm", "batched matrix product", PRODUCT,
                   bmm(("torch.bmm({x}, {other})", "{x}.bmm({other})")), matrices, ranks=(3, 3),
                   weight=3)
    yield operator("torch.baddbmm", "batched matrix product and addition", PRODUCT, baddbmm,
                   matrices, ranks=(3, 3), weight=1.5)
    yield operator("torch.mv", "matrix and vector", PRODUCT,
                   vector_product(("torch.mv({x}, {vector})", "{x}.mv({vector})")), features,
                   ranks=(2, 2))
    yield operator("torch.addmv", "matrix, vector and addition", PRODUCT,
                   vector_product(("torch.addmv({bias}, {x}, {vector})",
                                   "torch.addmv({bias}, {x}, {vector}, alpha=0.1)"), True),
                   features, ranks=(2, 2), weight=0.7)
    yield operator("torch.nn.Bilinear", "bilinear", PRODUCT, bilinear(True), pairs, ranks=(2, 4),
                   weight=1)
    yield operator(F + "bilinear", "bilinear", PRODUCT, bilinear(False), pairs, ranks=(2, 4),
                   weight=0.7)
    yield operator("torch.einsum", "einsum", PRODUCT, einsum,
                   ranked(features, matrices, matrices, images), ranks=(2, 4), weight=3)
    yield operator("torch.tensordot", "tensordot", PRODUCT, tensordot, matrices, ranks=(2, 4))
    yield operator("torch.inner", "inner product", PRODUCT, inner, rows, ranks=(2, 4))
    for name in ("outer", "ger"):
        yield operator(f"torch.{name}", "outer product", PRODUCT, outer(name), lambda draw: (),
                       ranks=(1, 1), weight=0.5 if name == "outer" else 0.1)
    yield operator("torch.addr", "outer product and addition", PRODUCT, addr, lambda draw: (),
                   ranks=(1, 1), weight=0.4)
    yield operator("torch.kron", "kronecker product", PRODUCT, kron, matrices_small, ranks=(2, 3),
                   weight=0.4)
    yield operator("torch.linalg.vecdot", "dot product along a dimension", PRODUCT, vecdot, rows,
                   ranks=(2, 4), weight=0.7)
    yield operator("torch.linalg.multi_dot", "product of several matrices", PRODUCT, multi_dot,
                   features, ranks=(2, 2), dtypes=("float32", "bfloat16"))


def matrices_small(draw):
    return draw.choice(((draw.size(128, 4096),), (draw.size(16, 64), draw.size(16, 64))))
