# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rearrangements: permutations, reshapes, parts and repetitions. The batch stays where it is, but
for what says otherwise."""

from math import prod

from maker.operators.build import (any_shape, images, like, operator, ranked, row, sequences,
                                   spelled, wide_dim)
from maker.operators.normalisation import divisors
from maker.spec import ANY, NON_NEGATIVE, PROBABILITY, POSITIVE, Step, within

LAYOUT = "layout"


def moved(domain):
    """The domain after elements have moved."""
    return POSITIVE if domain == PROBABILITY else domain


def zeroed(domain):
    """The domain after some elements have become zero."""
    return NON_NEGATIVE if within(domain, NON_NEGATIVE) else ANY


def method(draw, function, arguments):
    """torch.X(x, ...) or x.X(...)."""
    return f"{{x}}.{function}({arguments})" if draw.chance(0.5) else \
        f"torch.{function}({{x}}, {arguments})"


def permute(draw, value):
    order = list(range(1, value.rank))
    while order == sorted(order):
        draw.random.shuffle(order)
    text = ", ".join(map(str, [0, *order]))
    return Step(f"{{x}}.permute({text})" if draw.chance(0.7) else
                f"torch.permute({{x}}, ({text}))", domain=moved(value.domain))


def swap(function):
    def write(draw, value):
        one = draw.integer(1, value.rank - 2)
        other = draw.integer(one + 1, value.rank - 1)
        if draw.chance(0.5):
            one, other = one - value.rank, other - value.rank
        return Step(method(draw, function, f"{one}, {other}"), domain=moved(value.domain))

    return write


def movedim(function):
    def write(draw, value):
        one, other = (1, value.rank - 1) if draw.chance(0.5) else (value.rank - 1, 1)
        return Step(method(draw, function, f"{one}, {other}"), domain=moved(value.domain))

    return write


def flatten(draw, value):
    start = draw.integer(1, value.rank - 2)
    end = -1 if draw.chance(0.7) else start + 1
    arguments = f"{start}, {end}" if end != -1 else f"{start}"
    if draw.chance(0.5):
        arguments = f"start_dim={start}" + (f", end_dim={end}" if end != -1 else "")
    return Step(method(draw, "flatten", arguments), domain=moved(value.domain))


def flatten_module(draw, value):
    start = draw.weighted({1: 4, 2: 1})
    if start >= value.rank - 1:
        return None
    return Step("{m}({x})", "nn.Flatten()" if start == 1 else f"nn.Flatten({start})", (),
                moved(value.domain), name="flatten")


def splitting(draw, value):
    """A dimension and the sizes that it is taken apart into; None where it is prime."""
    dim = wide_dim(draw, value, 4)
    if dim is None:
        return None
    parts = [each for each in divisors(value.shape[dim], 256) if 1 < each < value.shape[dim]]
    if not parts:
        return None
    part = draw.choice(parts)
    return dim, (part, value.shape[dim] // part)


def unflatten(module):
    def write(draw, value):
        drawn = splitting(draw, value)
        if drawn is None:
            return None
        dim, sizes = drawn
        if module:
            return Step("{m}({x})", f"nn.Unflatten({dim}, {sizes})", domain=moved(value.domain),
                        name="unflatten")
        return Step(method(draw, "unflatten", f"{dim}, {sizes}"), domain=moved(value.domain))

    return write


def reshaped(name):
    """view() and reshape(): heads out of a width, or all behind the batch in one."""
    def write(draw, value):
        drawn, all_in_one = splitting(draw, value), draw.chance(0.3)
        free = draw.chance(0.5)
        if all_in_one and value.rank > 2:
            sizes = ("{x}.size(0)", -1) if not free else (-1, row(value))
        elif drawn is None:
            return None
        else:
            dim, parts = drawn
            sizes = (*value.shape[:dim], *parts, *value.shape[dim + 1:])
            if free:
                sizes = (-1, *sizes[1:])
        text = ", ".join(map(str, sizes))
        return Step(f"{{x}}.{name}({text})", domain=moved(value.domain))

    return write


def roll(draw, value):
    dim = wide_dim(draw, value, 4)
    if dim is None:
        return None
    by = draw.integer(1, draw.choice((4, value.shape[dim] - 1))) * draw.choice((1, -1))
    return Step(f"torch.roll({{x}}, shifts={by}, dims={spelled(draw, value, dim)})",
                domain=moved(value.domain))


def flip(draw, value):
    dim, both = wide_dim(draw, value), draw.chance(0.3)
    if dim is None:
        return None
    dims = [dim]
    if both and value.rank > 2:
        dims = [value.rank - 2, value.rank - 1]
    return Step(method(draw, "flip", f"dims={dims}"), domain=moved(value.domain))


def flipud(draw, value):
    return Step(draw.choice(("torch.flipud({x})", "{x}.flipud()")), domain=moved(value.domain))


def fliplr(draw, value):
    if value.shape[1] < 2:
        return None
    return Step("torch.fliplr({x})", domain=moved(value.domain))


def rot90(draw, value):
    times = draw.choice((1, 2, 3))
    if min(value.shape[-2:]) < 2:
        return None
    return Step(f"torch.rot90({{x}}, {times}, dims=({value.rank - 2}, {value.rank - 1}))",
                domain=moved(value.domain))


def repeated(name):
    def write(draw, value):
        times = [draw.weighted({1: 3, 2: 2, 3: 1}) for _ in range(value.rank - 1)]
        if prod(times) == 1:
            times[-1] = 2
        if row(value) * prod(times) > 16_000_000:
            return None
        text = ", ".join(map(str, [1, *times]))
        if name == "tile":
            text = f"torch.tile({{x}}, ({text}))"
        else:
            text = f"{{x}}.repeat({text})"
        return Step(text, domain=moved(value.domain))

    return write


def repeat_interleave(draw, value):
    dim, times = wide_dim(draw, value), draw.choice((2, 3, 4))
    if dim is None or row(value) * times > 16_000_000:
        return None
    return Step(method(draw, "repeat_interleave", f"{times}, dim={dim}"),
                domain=moved(value.domain))


def sized_join(name):
    """cat() and its like with one or two further tensors."""
    def write(draw, value):
        dim, count, first = draw.integer(1, value.rank - 1), draw.integer(1, 2), draw.chance(0.8)
        size = draw.choice((1, 2, 16, 64, 0, 0, 0))
        shape = list(value.shape)
        shape[dim] = size or shape[dim]
        if row(value) * (count + 1) > 16_000_000:
            return None
        extras = tuple(like(value, name, ANY, shape) for name in ("other", "another")[:count])
        parts = ["{x}", *(f"{{{extra.name}}}" for extra in extras)]
        text = ", ".join(parts if first else parts[::-1])
        return Step(f"torch.{name}([{text}], dim={spelled(draw, value, dim)})", None, extras)

    return write


def stack(draw, value):
    dim, count = draw.integer(1, value.rank), draw.integer(1, 2)
    if row(value) * (count + 1) > 16_000_000:
        return None
    extras = tuple(like(value, name) for name in ("other", "another")[:count])
    parts = ", ".join(f"{{{extra.name}}}" for extra in extras)
    return Step(f"torch.stack([{{x}}, {parts}], dim={dim})", None, extras)


def stacked(name, lowest):
    def write(draw, value):
        if value.rank < lowest or row(value) * 2 > 16_000_000:
            return None
        return Step(f"torch.{name}(({{x}}, {{other}}))", None, (like(value),))

    return write


def parted(name):
    """A part of what chunk(), split() and unbind() leave."""
    def write(draw, value):
        dim, count, which = wide_dim(draw, value, 4), draw.choice((2, 3, 4)), draw.chance(0.5)
        if dim is None:
            return None
        at = 0 if which else 1
        number = {"chunk": count, "tensor_split": count, "split": -(-value.shape[dim] // count)}
        return Step(method(draw, name, f"{number[name]}, dim={spelled(draw, value, dim)}") +
                    f"[{at}]", domain=moved(value.domain))

    return write


def split_at(name, dim):
    """hsplit() and dsplit(): along the second and the third dimension."""
    def write(draw, value):
        parts = [each for each in (2, 3, 4) if value.shape[dim] % each == 0]
        which = draw.choice((0, 1))
        if not parts or value.shape[dim] < 4:
            return None
        return Step(f"torch.{name}({{x}}, {draw.choice(parts)})[{which}]",
                    domain=moved(value.domain))

    return write


def unbind(draw, value):
    dim, last = wide_dim(draw, value), draw.chance(0.5)
    if dim is None:
        return None
    return Step(f"torch.unbind({{x}}, dim={dim})[{-1 if last else 0}]",
                domain=moved(value.domain))


def squeezed(draw, value):
    ones = [dim for dim in range(1, value.rank) if value.shape[dim] == 1]
    if not ones:
        return None
    return Step(method(draw, "squeeze", str(draw.choice(ones))), domain=moved(value.domain))


def unsqueezed(draw, value):
    dim = draw.integer(1, value.rank)
    return Step(method(draw, "unsqueeze", str(dim)), domain=moved(value.domain)
                if dim < value.rank else POSITIVE if within(value.domain, POSITIVE) else
                value.domain)


def adjoint(draw, value):
    return Step(draw.choice(("torch.adjoint({x})", "{x}.adjoint()")), domain=moved(value.domain))


def narrow(draw, value):
    dim, part = wide_dim(draw, value, 4), draw.choice((2, 3, 4))
    if dim is None:
        return None
    length = value.shape[dim] - value.shape[dim] // part
    return Step(method(draw, "narrow", f"{dim}, {value.shape[dim] // part}, {length}"),
                domain=moved(value.domain))


def select(draw, value):
    dim = wide_dim(draw, value)
    if dim is None or value.rank < 3:
        return None
    last = value.shape[dim] - 1
    place = draw.choice((0, last, draw.integer(0, last)))
    return Step(method(draw, "select", f"{dim}, {place}"),
                domain=moved(value.domain))


def unfold(draw, value):
    dim, size = wide_dim(draw, value, 8), draw.choice((2, 3, 4, 8))
    step = draw.choice((1, 2, size))
    if dim is None or row(value) * size // step > 16_000_000:
        return None
    return Step(f"{{x}}.unfold({dim}, {size}, {step})", domain=moved(value.domain))


def triangle(name):
    def write(draw, value):
        diagonal = draw.choice((0, 0, 1, -1, 3))
        if min(value.shape[-2:]) < 4:
            return None
        text = f", diagonal={diagonal}" if diagonal else ""
        return Step(f"torch.{name}({{x}}{text})", domain=zeroed(value.domain))

    return write


def diagonal(name):
    def write(draw, value):
        if min(value.shape[-2:]) < 4:
            return None
        offset = draw.choice(("", "", "offset=1, "))
        if name == "torch.linalg.diagonal":
            return Step(f"torch.linalg.diagonal({{x}})", domain=moved(value.domain))
        return Step(f"torch.diagonal({{x}}, {offset}dim1=-2, dim2=-1)",
                    domain=moved(value.domain))

    return write


def diag_embed(draw, value):
    offset = draw.choice(("", "", ", offset=1", ", offset=-1"))
    if row(value) * value.shape[-1] > 16_000_000:
        return None
    return Step(f"torch.diag_embed({{x}}{offset})", domain=zeroed(value.domain))


def block_diag(draw, value):
    rows = draw.size(16, 256)
    if value.shape[1] > 16384:
        return None
    return Step("torch.block_diag({x}, {other})", None,
                (like(value, "other", ANY, (rows, draw.size(16, 256))),))


def expanded(name):
    def write(draw, value):
        ones = [dim for dim in range(1, value.rank) if value.shape[dim] == 1]
        size = draw.choice((2, 4, 8, 16))
        if not ones or row(value) * size > 16_000_000:
            return None
        shape = list(value.shape)
        shape[ones[0]] = size
        text = ", ".join(map(str, shape))
        return Step(f"{{x}}.expand({text})" if name == "expand" else
                    f"torch.broadcast_to({{x}}, ({text}))", domain=moved(value.domain))

    return write


def with_one(draw):
    return (1, draw.size(1024, 65536)) if draw.chance(0.5) else (draw.size(64, 512), 1,
                                                                 draw.size(64, 512))


def even_images(draw):
    return (draw.choice((6, 12, 32, 64)), draw.choice((24, 48, 64)), draw.size(32, 256))


def window(text, module):
    """Patches of images as columns."""
    def write(draw, value):
        kernel, pad, apart = draw.choice((2, 3, 4)), draw.choice((0, 1)), draw.chance(0.4)
        if min(value.shape[2:]) < kernel or row(value) * kernel * kernel > 16_000_000:
            return None
        arguments = f"{kernel}" + (f", padding={pad}" if pad else "") + \
            (f", stride={kernel}" if apart else "")
        if module:
            return Step("{m}({x})", f"{text}({arguments})", domain=zeroed(value.domain),
                        name="patches")
        return Step(f"{text}({{x}}, {arguments})", domain=zeroed(value.domain))

    return write


def fold(text, module):
    """Sums patches that overlap into an image."""
    def write(draw, value):
        area, kernels = value.shape[2], [kernel for kernel in (2, 3, 4)
                                         if value.shape[1] % (kernel * kernel) == 0]
        rows = [each for each in divisors(area, 512) if each > 1 and area // each > 1]
        if not kernels or not rows:
            return None
        kernel = draw.choice(kernels)
        stride = draw.choice((1, kernel))
        high = rows[len(rows) // 2]
        size = tuple((count - 1) * stride + kernel for count in (high, area // high))
        arguments = f"{size}, {kernel}" + (f", stride={stride}" if stride > 1 else "")
        if module:
            return Step("{m}({x})", f"{text}({arguments})", domain=value.domain, name="fold")
        return Step(f"{text}({{x}}, {arguments})", domain=value.domain)

    return write


def patches(draw):
    channels, kernel = draw.size(4, 128), draw.choice((2, 3, 4))
    return (channels * kernel * kernel, draw.choice((64, 196, 256, 400, 1024)))


def operators():
    deep = ranked(sequences, images, images)
    yield operator("torch.permute", "permute", LAYOUT, permute, deep, ranks=(3, 5), weight=3)
    for name, weight in (("transpose", 3), ("swapaxes", 0.2), ("swapdims", 0.2)):
        yield operator(f"torch.{name}", "transpose", LAYOUT, swap(name), deep, ranks=(3, 5),
                       weight=weight)
    for name, weight in (("movedim", 0.5), ("moveaxis", 0.2)):
        yield operator(f"torch.{name}", "move a dimension", LAYOUT, movedim(name), deep,
                       ranks=(3, 5), weight=weight)
    yield operator("torch.flatten", "flatten", LAYOUT, flatten, deep, ranks=(3, 5), weight=2)
    yield operator("torch.nn.Flatten", "flatten", LAYOUT, flatten_module, deep, ranks=(3, 5),
                   weight=2)
    yield operator("torch.unflatten", "unflatten", LAYOUT, unflatten(False), deep, ranks=(2, 4))
    yield operator("torch.nn.Unflatten", "unflatten", LAYOUT, unflatten(True), deep, ranks=(2, 4))
    yield operator("torch.Tensor.view", "view", LAYOUT, reshaped("view"), deep, ranks=(2, 5),
                   weight=2)
    yield operator("torch.reshape", "reshape", LAYOUT, reshaped("reshape"), deep, ranks=(2, 5),
                   weight=2)
    yield operator("torch.roll", "roll", LAYOUT, roll, any_shape, ranks=(2, 5), weight=1.5)
    yield operator("torch.flip", "flip", LAYOUT, flip, any_shape, ranks=(2, 5), weight=1.5)
    yield operator("torch.fliplr", "flip", LAYOUT, fliplr, any_shape, ranks=(2, 5), weight=0.3)
    yield operator("torch.flipud", "flip", LAYOUT, flipud, any_shape, ranks=(2, 5), weight=0.2)
    yield operator("torch.rot90", "rotation by right angles", LAYOUT, rot90, deep, ranks=(3, 5),
                   weight=0.5)
    for name in ("torch.tile", "torch.Tensor.repeat"):
        yield operator(name, "repeat", LAYOUT, repeated(name.rsplit(".", 1)[1]), any_shape,
                       ranks=(2, 5), weight=0.7)
    yield operator("torch.repeat_interleave", "repeat elements", LAYOUT, repeat_interleave,
                   any_shape, ranks=(2, 5), weight=0.7, differentiable=False)
    for name, weight in (("cat", 3), ("concat", 0.3), ("concatenate", 0.2)):
        yield operator(f"torch.{name}", "concatenation", LAYOUT, sized_join(name), any_shape,
                       ranks=(2, 5), weight=weight)
    yield operator("torch.stack", "stack", LAYOUT, stack, any_shape, ranks=(2, 4), weight=2)
    for name, lowest in (("hstack", 2), ("dstack", 3), ("column_stack", 2)):
        yield operator(f"torch.{name}", "concatenation", LAYOUT, stacked(name, lowest), any_shape,
                       ranks=(lowest, 5), weight=0.2)
    for name, weight in (("chunk", 1), ("split", 1), ("tensor_split", 0.3)):
        yield operator(f"torch.{name}", "split", LAYOUT, parted(name), any_shape, ranks=(2, 5),
                       weight=weight)
    for name, dim in (("hsplit", 1), ("dsplit", 2)):
        yield operator(f"torch.{name}", "split", LAYOUT, split_at(name, dim), even_images,
                       ranks=(dim + 1, 5), weight=0.2)
    yield operator("torch.unbind", "select", LAYOUT, unbind, lambda draw: (
        draw.choice((2, 3, 4)), draw.size(512, 65536)), ranks=(3, 5), weight=0.4)
    yield operator("torch.squeeze", "squeeze", LAYOUT, squeezed, with_one, ranks=(3, 5),
                   weight=0.4)
    yield operator("torch.unsqueeze", "unsqueeze", LAYOUT, unsqueezed, any_shape, ranks=(2, 4),
                   weight=0.4)
    yield operator("torch.adjoint", "transpose", LAYOUT, adjoint, deep, ranks=(3, 5), weight=0.2)
    yield operator("torch.narrow", "narrow", LAYOUT, narrow, any_shape, ranks=(2, 5), weight=0.7)
    yield operator("torch.select", "select", LAYOUT, select, deep, ranks=(3, 5), weight=0.5)
    yield operator("torch.Tensor.unfold", "sliding windows", LAYOUT, unfold, any_shape,
                   ranks=(2, 4), weight=0.7)
    for name in ("tril", "triu"):
        yield operator(f"torch.{name}", "triangle of a matrix", LAYOUT, triangle(name), deep,
                       ranks=(3, 5))
    for name in ("torch.diagonal", "torch.linalg.diagonal"):
        yield operator(name, "diagonal", LAYOUT, diagonal(name), deep, ranks=(3, 5), weight=0.3)
    yield operator("torch.diag_embed", "diagonal matrix", LAYOUT, diag_embed,
                   lambda draw: (draw.size(64, 1024),), ranks=(2, 4), weight=0.4)
    yield operator("torch.block_diag", "block diagonal matrix", LAYOUT, block_diag,
                   lambda draw: (draw.size(1024, 8192),), ranks=(2, 2), weight=0.2)
    for name in ("torch.Tensor.expand", "torch.broadcast_to"):
        yield operator(name, "expand", LAYOUT, expanded(name.rsplit(".", 1)[1]), with_one,
                       ranks=(2, 5), weight=0.4)
    for name, text, module in (("torch.nn.functional.unfold", "F.unfold", False),
                               ("torch.nn.Unfold", "nn.Unfold", True)):
        yield operator(name, "patches of images", LAYOUT, window(text, module), images,
                       ranks=(4, 4))
    for name, text, module in (("torch.nn.functional.fold", "F.fold", False),
                               ("torch.nn.Fold", "nn.Fold", True)):
        yield operator(name, "sum of patches", LAYOUT, fold(text, module), patches, ranks=(3, 3),
                       weight=0.7)
