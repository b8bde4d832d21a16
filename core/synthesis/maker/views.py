# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Modules that move elements: chains of pads, slices, permutations, reshapes, joins and lookups with
numbers that are drawn evenly, at times with a little arithmetic between.

The composer's operators have the numbers that people give them, which are few: a pad of one on each
side, a factor of two, the last element. Where a kernel has to read follows from those alone, and a
model that meets no others learns them by heart. In these every number has to be read.
"""

import math

from maker import compose, writer
from maker.compose import NoTask
from maker.spec import INDEX, Extra, Step, Value

LARGEST_ROW = 1 << 21  # elements of one batch element
SMALLEST_ROW = 64
MOST_TRIES = 40

LAYOUT, PADDING, INDEXING, UPSAMPLING = "layout", "padding", "indexing", "upsampling"
SLICE = ("torch.Tensor.__getitem__", "slice", INDEXING)
CAT = ("torch.cat", "concatenation", LAYOUT)
STACK = ("torch.stack", "stack", LAYOUT)
PAD = ("torch.nn.functional.pad", "padding", PADDING)
FLIP = ("torch.flip", "flip", LAYOUT)
ROT90 = ("torch.rot90", "rotation by right angles", LAYOUT)
INTERPOLATE = ("torch.nn.functional.interpolate", "interpolation", UPSAMPLING)
SUB = ("torch.sub", "subtraction", "binary")
ARITHMETIC = (
    ("{x} * {number}", ("torch.mul", "multiplication", "binary")),
    ("{x} + {number}", ("torch.add", "addition", "binary")),
    ("torch.relu({x})", ("torch.relu", "relu", "activation")),
    ("torch.tanh({x})", ("torch.tanh", "tanh", "activation")),
    ("torch.abs({x})", ("torch.abs", "abs", "elementwise")),
    ("torch.square({x})", ("torch.square", "square", "elementwise")),
)
WITH_ANOTHER = (
    ("{x} + {other}", ("torch.add", "addition", "binary")),
    ("{x} * {other}", ("torch.mul", "multiplication", "binary")),
    ("{x} - {other}", SUB),
    ("torch.maximum({x}, {other})", ("torch.maximum", "maximum", "binary")),
)
OVER_ROWS = (
    ("torch.sum({x}, dim={dim})", ("torch.sum", "sum", "reduction")),
    ("torch.mean({x}, dim={dim})", ("torch.mean", "mean", "reduction")),
    ("torch.amax({x}, dim={dim})", ("torch.amax", "maximum along a dimension", "reduction")),
)
NUMBERS = ("0.5", "2.0", "-1.5", "3.0", "0.25")
OTHERS = ("y", "other", "z", "side", "rest", "shift", "scale", "extra", "right", "context")


def write(draw, batch, dtype, irregular):
    """The module of these draws for a batch, the same one whatever the batch is. Of the share
    `irregular` of them the first input lies in memory in another order."""
    return Views(draw, batch, dtype, irregular).task()


class Views:
    def __init__(self, draw, batch, dtype, irregular):
        self.draw = draw
        self.dtype = dtype
        self.shape = (batch, *self.row())
        layout = "contiguous"
        if draw.chance(irregular) and len(self.shape) > 2:
            layout = "channels_last" if len(self.shape) in (4, 5) else "transposed"
        self.inputs = [("x", Extra("x", self.shape, dtype, layout=layout))]
        self.body, self.used = [], []

    def task(self):
        draw = self.draw
        count = draw.weighted({2: 3, 3: 4, 4: 3, 5: 1})
        for number in range(count):
            self.moved()
            if draw.chance(0.3) and number + 1 < count:
                self.arithmetic()
        if draw.chance(0.7):
            self.arithmetic()
        if draw.chance(0.15) and len(self.shape) > 2:
            text, operator = draw.choice(OVER_ROWS)
            self.take(text.replace("{dim}", str(draw.integer(1, len(self.shape) - 1))), [operator])
        code = writer.module(self.inputs, [], self.body, "x", self.dtype)
        return writer.written(code, self.shape, self.used)

    def row(self):
        """Sizes of one batch element: two to four dimensions, few of which are alike."""
        draw = self.draw
        rank = draw.weighted({1: 1, 2: 3, 3: 5, 4: 2})
        least, most = {1: (256, 16384), 2: (16, 512), 3: (6, 96), 4: (4, 24)}[rank]
        return tuple(draw.size(least, most) if draw.chance(0.5) else draw.integer(least, most)
                     for _ in range(rank))

    # -- steps --------------------------------------------------------------------------------------

    def moved(self):
        """One view of the value, or several that are joined."""
        steps = {self.permuted: 4, self.flipped: 2, self.turned: 1, self.rolled: 2, self.padded: 5, self.sliced: 4,
                 self.selected: 2, self.joined: 3, self.split: 2, self.merged: 2, self.repeated: 2,
                 self.resized: 3, self.windows: 1, self.diagonal: 1, self.looked_up: 2,
                 self.neighbours: 2, self.shuffled: 1}
        for _ in range(MOST_TRIES):
            step = self.draw.weighted(steps)()
            if step is not None and self.take(*step):
                return
        raise NoTask("no view fits")

    def take(self, text, operators, *inputs):
        """Takes a step of the value and of further inputs; whether its result is neither too large
        nor too small."""
        step = Step(text, extras=tuple(extra for _, extra in inputs))
        result = compose.run(step, Value(self.shape, self.dtype), self.dtype)
        if result is None or result.shape[0] != self.shape[0] or result.rank > 6 or \
                not SMALLEST_ROW <= math.prod(result.shape[1:]) <= LARGEST_ROW:
            return False
        self.inputs.extend(inputs)
        self.body.append("x = " + text.format(x="x", **{name: name for name, _ in inputs}))
        self.used.extend(operators)
        self.shape = result.shape
        return True

    def dim(self, least=2):
        """A dimension behind the batch with at least so many elements, or None."""
        dims = [dim for dim in range(1, len(self.shape)) if self.shape[dim] >= least]
        return self.draw.choice(dims) if dims else None

    def another(self, shape, below=0):
        """A further input, numbers from 0 to `below` - 1 where that is given."""
        taken = {name for name, _ in self.inputs}
        name = self.draw.choice([name for name in OTHERS if name not in taken])
        return name, Extra(name, shape, "int64", INDEX, below=below) if below else Extra(name, shape, self.dtype)

    def at(self, dim, text):
        """x[:, :, text]"""
        if dim == len(self.shape) - 1 and self.draw.chance(0.5):
            return f"{{x}}[..., {text}]"
        return "{x}[" + ":, " * dim + text + "]"

    def arithmetic(self):
        draw = self.draw
        if draw.chance(0.5) or len(self.inputs) > 3:
            text, operator = draw.choice(ARITHMETIC)
            self.take(text.replace("{number}", draw.choice(NUMBERS)), [operator])
            return
        text, operator = draw.choice(WITH_ANOTHER)
        ones = [draw.chance(0.2) for _ in self.shape[1:]]
        shape = (self.shape[0], *(1 if one else size for one, size in zip(ones, self.shape[1:])))
        other = self.another(shape if draw.chance(0.7) else shape[1:])
        self.take(text.replace("{other}", f"{{{other[0]}}}"), [operator], other)

    def permuted(self):
        order = list(range(1, len(self.shape)))
        if len(order) < 2:
            return None
        while order == sorted(order):
            self.draw.random.shuffle(order)
        moved = [at for at, dim in enumerate(order, 1) if at != dim]
        if len(moved) == 2 and self.draw.chance(0.6):
            return f"{{x}}.transpose({moved[0]}, {moved[1]})", [("torch.transpose", "transpose", LAYOUT)]
        return "{x}.permute(%s)" % ", ".join(map(str, [0, *order])), [("torch.permute", "permute", LAYOUT)]

    def flipped(self):
        dims = [dim for dim in range(1, len(self.shape)) if self.draw.chance(0.5)]
        return (f"{{x}}.flip({', '.join(map(str, dims))})", [FLIP]) if dims else None

    def turned(self):
        dims = self.draw.random.sample(range(1, len(self.shape)), 2) if len(self.shape) > 2 else None
        return (f"{{x}}.rot90({self.draw.integer(1, 3)}, {tuple(dims)})", [ROT90]) if dims else None

    def rolled(self):
        dims = [dim for dim in range(1, len(self.shape)) if self.shape[dim] > 2 and self.draw.chance(0.4)]
        if not dims:
            return None
        shifts = [self.draw.integer(1, self.shape[dim] - 1) * self.draw.choice((1, -1)) for dim in dims]
        numbers = ", ".join(map(str, shifts)), ", ".join(map(str, dims))
        text = "torch.roll({x}, (%s), (%s))" % numbers if len(dims) > 1 else \
            "torch.roll({x}, %s, dims=%s)" % numbers
        return text, [("torch.roll", "roll", LAYOUT)]

    def padded(self):
        """Each side by itself: many are not padded, some are cut."""
        draw = self.draw
        if 3 <= len(self.shape) <= 5 and draw.chance(0.2):
            return self.padded_by_itself()
        dims = draw.integer(1, min(3, len(self.shape) - 1))
        pads = []
        for side in range(2 * dims):
            size = self.shape[-1 - side // 2]
            kind = draw.weighted({"none": 4, "few": 4, "many": 2, "cut": 1})
            pads.append({"none": 0, "few": draw.integer(1, 4), "many": draw.integer(1, 20),
                         "cut": -draw.integer(1, max(1, size // 4))}[kind])
        if not any(pads):
            return None
        number = draw.choice(("", "", ", value=1.0", ", value=-2.5", ", value=0.5"))
        return f"F.pad({{x}}, {tuple(pads)}{number})", [PAD]

    def padded_by_itself(self):
        """All dimensions behind the channels, by what lies at the other side or at this one."""
        mode = self.draw.choice(("circular", "reflect", "replicate"))
        most = [min(side - 1, self.draw.choice((1, 3, 9))) for side in reversed(self.shape[2:])]
        pads = [self.draw.integer(0, max(0, each)) for each in most for _ in range(2)]
        if not any(pads):
            return None
        return f"F.pad({{x}}, {tuple(pads)}, mode='{mode}')", [PAD]

    def sliced(self):
        dim = self.dim(4)
        if dim is None:
            return None
        size = self.shape[dim]
        begin, end = self.draw.integer(0, size // 2), self.draw.integer(size // 2 + 1, size)
        step = self.draw.weighted({1: 5, 2: 2, 3: 1})
        text = (str(begin) if begin else "") + ":" + (str(end) if end < size else "")
        text += f":{step}" if step > 1 else ""
        return (self.at(dim, text), [SLICE]) if text != ":" else None

    def selected(self):
        dim = self.dim()
        if dim is None or len(self.shape) < 3:
            return None
        place = self.draw.integer(0, self.shape[dim] - 1)
        if self.draw.chance(0.5):
            return f"{{x}}.select({dim}, {place})", [("torch.select", "select", LAYOUT)]
        return self.at(dim, str(place)), [SLICE]

    def joined(self):
        """The value with a part of itself, or with another tensor."""
        draw = self.draw
        dim = self.dim(4)
        if dim is None:
            return None
        form = draw.weighted({"other": 3, "turned": 2, "parts": 2, "stack": 1})
        if form == "stack":
            return f"torch.stack([{{x}}, {{x}}.flip({dim})], dim={draw.integer(1, len(self.shape))})", [FLIP, STACK]
        if form == "turned":
            return f"torch.cat([{{x}}.flip({dim}), {{x}}], dim={dim})", [FLIP, CAT]
        if form == "parts":
            at = draw.integer(1, self.shape[dim] - 1)
            last, first = self.at(dim, f"{at}:"), self.at(dim, f":{draw.integer(1, at)}")
            return f"torch.cat([{last}, {first}], dim={dim})", [SLICE, SLICE, CAT]
        if len(self.inputs) > 3:
            return None
        shape = list(self.shape)
        shape[dim] = draw.integer(1, 2 * shape[dim])
        other = self.another(tuple(shape))
        parts = ["{x}", f"{{{other[0]}}}"]
        parts = ", ".join(parts if draw.chance(0.5) else parts[::-1])
        return f"torch.cat([{parts}], dim={dim})", [CAT], other

    def split(self):
        dims = {}
        for dim in range(1, len(self.shape)):
            parts = [part for part in range(2, 33) if self.shape[dim] % part == 0 and self.shape[dim] > part]
            if parts:
                dims[dim] = parts
        if not dims or len(self.shape) > 5:
            return None
        dim = self.draw.choice(dims)
        part = self.draw.choice(dims[dim])
        sizes = (part, self.shape[dim] // part)
        return f"{{x}}.unflatten({dim}, {sizes})", [("torch.unflatten", "unflatten", LAYOUT)]

    def merged(self):
        if len(self.shape) < 3:
            return None
        dim = self.draw.integer(1, len(self.shape) - 2)
        return f"{{x}}.flatten({dim}, {dim + 1})", [("torch.flatten", "flatten", LAYOUT)]

    def repeated(self):
        draw = self.draw
        dim = self.dim(1)
        times = draw.integer(2, 5)
        if draw.chance(0.5):
            return f"{{x}}.repeat_interleave({times}, dim={dim})", [
                ("torch.repeat_interleave", "repeat elements", LAYOUT)]
        counts = [times if at == dim else 1 for at in range(len(self.shape))]
        return f"{{x}}.repeat({', '.join(map(str, counts))})", [("torch.Tensor.repeat", "repeat", LAYOUT)]

    def resized(self):
        rank = len(self.shape)
        if not 3 <= rank <= 5:
            return None
        draw = self.draw
        between = {("", "", "", "linear", "bilinear", "trilinear")[rank]: 2}
        if rank == 4:
            between["bicubic"] = 2
        mode = draw.weighted({"nearest": 4, "nearest-exact": 2} | between)
        if draw.chance(0.5):
            sizes = [draw.integer(2, 3 * side) for side in self.shape[2:]]
            how = f"size=({', '.join(map(str, sizes))},)" if rank == 3 else f"size={tuple(sizes)}"
        else:
            how = f"scale_factor={draw.choice((2, 3, 4, 5, 1.5, 2.5, 1.25, 0.5, 0.75))}"
        corners = ", align_corners=True" if not mode.startswith("nearest") and draw.chance(0.4) else ""
        return f"F.interpolate({{x}}, {how}, mode='{mode}'{corners})", [INTERPOLATE]

    def windows(self):
        dim = self.dim(6)
        if dim is None or len(self.shape) > 4:
            return None
        size = self.draw.integer(2, 5)
        return f"{{x}}.unfold({dim}, {size}, {self.draw.integer(1, size)})", [
            ("torch.Tensor.unfold", "sliding windows", LAYOUT)]

    def diagonal(self):
        if len(self.shape) < 3 or min(self.shape[1:]) < 4:
            return None
        one, other = self.draw.random.sample(range(1, len(self.shape)), 2)
        offset = self.draw.integer(-2, 2)
        return f"torch.diagonal({{x}}, {offset}, {one}, {other})", [("torch.diagonal", "diagonal", LAYOUT)]

    def looked_up(self):
        dim = self.dim(4)
        if dim is None or len(self.inputs) > 3:
            return None
        count = self.draw.integer(3, 2 * self.shape[dim])
        index = self.another((count,), below=self.shape[dim])
        place = f"{{{index[0]}}}"
        if self.draw.chance(0.5):
            return f"torch.index_select({{x}}, {dim}, {place})", [
                ("torch.index_select", "index select", INDEXING)], index
        return self.at(dim, place), [SLICE], index

    def neighbours(self):
        dim = self.dim(6)
        if dim is None:
            return None
        if self.draw.chance(0.3):
            times = self.draw.choice((1, 1, 2))
            return f"torch.diff({{x}}, n={times}, dim={dim})", [("torch.diff", "difference of neighbours", "scan")]
        apart = self.draw.integer(1, min(4, self.shape[dim] - 2))
        return f"{self.at(dim, f'{apart}:')} - {self.at(dim, f':-{apart}')}", [SLICE, SLICE, SUB]

    def shuffled(self):
        if len(self.shape) != 4:
            return None
        factor = self.draw.choice((2, 3))
        if self.shape[1] % (factor * factor) == 0 and self.draw.chance(0.5):
            return f"F.pixel_shuffle({{x}}, {factor})", [
                ("torch.nn.functional.pixel_shuffle", "pixel shuffle", LAYOUT)]
        if all(side % factor == 0 for side in self.shape[2:]):
            return f"F.pixel_unshuffle({{x}}, {factor})", [
                ("torch.nn.functional.pixel_unshuffle", "pixel unshuffle", LAYOUT)]
        return None
