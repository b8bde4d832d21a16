# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Modules of formulas, as people write gates, losses and norms by hand: a few named values, each an
expression over whichever values there are, several tensors that broadcast, parameters, reductions,
and at times a layer.

The composer's chains hand each result to the next operator. In these any value may be read anywhere
and often, so that what a kernel computes follows from reading the formula alone.
"""

from maker import layers, writer
from maker.operators import build
from maker.spec import Extra

INPUTS = ("x", "y", "a", "b", "gate", "hidden", "other", "residual", "context", "signal", "noise",
          "target", "values", "logits", "state", "left", "right", "features", "bias", "mask_values")
HELD = ("weight", "scale", "shift", "bias", "alpha", "beta", "gamma", "gain", "offset", "limit",
        "slope", "temperature", "mixing", "prior", "threshold", "decay")
LOCALS = ("mixed", "gated", "h", "z", "u", "v", "t", "inner", "outer", "base", "delta", "energy",
          "ratio", "centred", "scaled", "act", "result", "score", "difference", "total", "normed",
          "peak", "part", "rest", "squashed", "update", "p", "q", "w", "candidate")
NUMBERS = ("0.5", "2.0", "0.1", "1.5", "3.0", "0.25", "0.75", "4.0", "0.2", "1.702", "6.0", "0.3",
           "0.044715", "1.25", "0.9")
SMALL = ("1e-5", "1e-6", "1e-3", "1e-8")
WHOLE = ("1", "2", "3")  # beside tensors

ACTIVATION, BINARY, ELEMENTWISE, INDEXING, REDUCTION = (
    "activation", "binary", "elementwise", "indexing", "reduction")

# How it is written of {0}, the operators that it is made of: (name, kind, family), and how often.
UNARY = (
    ("torch.sigmoid({0})", (("torch.sigmoid", "sigmoid", ACTIVATION),), 4),
    ("torch.tanh({0})", (("torch.tanh", "tanh", ACTIVATION),), 4),
    ("torch.relu({0})", (("torch.relu", "relu", ACTIVATION),), 2),
    ("F.relu({0})", (("torch.nn.functional.relu", "relu", ACTIVATION),), 2),
    ("F.silu({0})", (("torch.nn.functional.silu", "silu", ACTIVATION),), 3),
    ("F.gelu({0})", (("torch.nn.functional.gelu", "gelu", ACTIVATION),), 2),
    ("F.hardswish({0})", (("torch.nn.functional.hardswish", "hardswish", ACTIVATION),), 1),
    ("F.hardsigmoid({0})", (("torch.nn.functional.hardsigmoid", "hardsigmoid", ACTIVATION),), 1),
    ("F.softplus({0})", (("torch.nn.functional.softplus", "softplus", ACTIVATION),), 2),
    ("F.leaky_relu({0}, {number})", (("torch.nn.functional.leaky_relu", "leaky relu",
                                      ACTIVATION),), 1),
    ("F.elu({0})", (("torch.nn.functional.elu", "elu", ACTIVATION),), 1),
    ("F.relu6({0})", (("torch.nn.functional.relu6", "relu6", ACTIVATION),), 1),
    ("torch.abs({0})", (("torch.abs", "abs", ELEMENTWISE),), 2),
    ("torch.square({0})", (("torch.square", "square", ELEMENTWISE),), 3),
    ("torch.sin({0})", (("torch.sin", "sin", ELEMENTWISE),), 1),
    ("torch.erf({0})", (("torch.erf", "error function", ELEMENTWISE),), 1),
    ("torch.atan({0})", (("torch.atan", "arctangent", ELEMENTWISE),), 1),
    ("torch.clamp({0}, -{number}, {number})", (("torch.clamp", "clamp", ELEMENTWISE),), 3),
    ("torch.clamp({0}, min={number})", (("torch.clamp", "clamp", ELEMENTWISE),), 1),
    ("torch.clamp({0}, max={number})", (("torch.clamp", "clamp", ELEMENTWISE),), 1),
    ("torch.exp(-torch.abs({0}))", (("torch.abs", "abs", ELEMENTWISE),
                                    ("torch.neg", "negation", ELEMENTWISE),
                                    ("torch.exp", "exp", ELEMENTWISE)), 2),
    ("torch.exp(torch.clamp({0}, max={number}))", (("torch.clamp", "clamp", ELEMENTWISE),
                                                   ("torch.exp", "exp", ELEMENTWISE)), 1),
    ("torch.log1p(torch.abs({0}))", (("torch.abs", "abs", ELEMENTWISE),
                                     ("torch.log1p", "log1p", ELEMENTWISE)), 2),
    ("torch.rsqrt(torch.square({0}) + {small})", (("torch.square", "square", ELEMENTWISE),
                                                  ("torch.add", "addition", BINARY),
                                                  ("torch.rsqrt", "rsqrt", ELEMENTWISE)), 1),
    ("torch.reciprocal({whole} + torch.abs({0}))", (
        ("torch.abs", "abs", ELEMENTWISE), ("torch.add", "addition", BINARY),
        ("torch.reciprocal", "reciprocal", ELEMENTWISE)), 1),
)
INFIX = (
    ("{0} + {1}", ("torch.add", "addition", BINARY), 6),
    ("{0} - {1}", ("torch.sub", "subtraction", BINARY), 4),
    ("{0} * {1}", ("torch.mul", "multiplication", BINARY), 8),
)
# Of one tensor and a number.
SCALED = (
    ("{0} * {number}", ("torch.mul", "multiplication", BINARY), 4),
    ("{number} * {0}", ("torch.mul", "multiplication", BINARY), 2),
    ("{0} + {number}", ("torch.add", "addition", BINARY), 2),
    ("{0} - {number}", ("torch.sub", "subtraction", BINARY), 1),
    ("{whole} - {0}", ("torch.sub", "subtraction", BINARY), 2),  # as a recorder names it
    ("{whole} + {0}", ("torch.add", "addition", BINARY), 2),
    ("{0} / {number}", ("torch.div", "division", BINARY), 2),
    ("-{0}", ("torch.neg", "negation", ELEMENTWISE), 1),
    ("{0} ** 2", ("torch.pow", "power", BINARY), 2),
)
CALLED = (
    ("torch.maximum({0}, {1})", (("torch.maximum", "maximum", BINARY),), 2),
    ("torch.minimum({0}, {1})", (("torch.minimum", "minimum", BINARY),), 2),
    ("torch.where({0} > {1}, {2}, {3})", (("torch.gt", "greater", "comparison"),
                                          ("torch.where", "where", INDEXING)), 2),
    ("torch.where({0} > 0, {1}, {2})", (("torch.gt", "greater", "comparison"),
                                        ("torch.where", "where", INDEXING)), 1),
    ("torch.lerp({0}, {1}, {fraction})", (("torch.lerp", "linear interpolation of two",
                                           BINARY),), 1),
    ("torch.addcmul({0}, {1}, {2})", (("torch.addcmul", "addcmul", BINARY),), 1),
)
QUOTIENT = (("torch.abs", "abs", ELEMENTWISE), ("torch.add", "addition", BINARY),
            ("torch.div", "division", BINARY))
REDUCED = (
    ("torch.mean({0}, dim={dims}, keepdim=True)", ("torch.mean", "mean", REDUCTION), 4),
    ("torch.sum({0}, dim={dims}, keepdim=True)", ("torch.sum", "sum", REDUCTION), 3),
    ("torch.amax({0}, dim={dims}, keepdim=True)", (
        "torch.amax", "maximum along a dimension", REDUCTION), 2),
    ("torch.amin({0}, dim={dims}, keepdim=True)", (
        "torch.amin", "minimum along a dimension", REDUCTION), 1),
)
SUM, PRODUCT, CLOSED = 1, 2, 3
SHAPES = {build.features: 3, build.sequences: 4, build.images: 2}


def write(draw, batch, dtype, backward):
    """The module of these draws for a batch, the same one whatever the batch is."""
    return Formulas(draw, batch, dtype, backward).task()


class Formulas:
    def __init__(self, draw, batch, dtype, backward):
        self.draw = draw
        self.dtype = dtype
        self.backward = backward
        # A condition hands no gradient to what it compares.
        self.called = [row for row in CALLED if not (backward and row[1][-1][1] == "where")]
        self.shape = (batch, *draw.weighted(SHAPES)(draw))
        self.used = []     # operators
        self.unread = []   # values that nothing reads yet
        self.values = []   # all that may be read
        self.inputs, self.held = [], []
        taken = {"self", "torch", "grad"}
        self.taken, self.layers = taken, set()
        self.body = []
        first = layers.first(draw, self.shape) if draw.chance(0.25) else None
        for number in range(draw.weighted({1: 3, 2: 5, 3: 3, 4: 1})):
            name = self.fresh(INPUTS, taken)
            shape = self.broadcast() if number else first.given if first else self.shape
            self.inputs.append((name, Extra(name, shape, dtype)))
        for _ in range(draw.weighted({0: 6, 1: 3, 2: 2})):
            name = self.fresh(HELD, taken)
            self.held.append((name, f"nn.Parameter(torch.randn({self.row()}))"))
        self.values = [name for name, _ in self.inputs] + [f"self.{name}" for name, _ in self.held]
        self.unread = list(self.values)
        # Those of the result's shape, and what the formula that is written has read.
        self.whole = {name for name, extra in self.inputs if extra.shape == self.shape}
        self.reads = set()
        self.start = self.inputs[0][0]
        if first:
            given, self.start = self.start, self.fresh(LOCALS, taken)
            self.whole.discard(given)
            self.body.append(f"{self.start} = {self.layer(first)}({given})")
            for names in (self.values, self.unread):
                names[names.index(given)] = self.start
            self.whole.add(self.start)

    def task(self):
        draw = self.draw
        body = self.body
        for _ in range(draw.weighted({0: 1, 1: 3, 2: 4, 3: 2, 4: 1})):
            self.reads = set()
            reduces = draw.chance(0.25)
            layered = draw.chance(0.15) and not reduces
            text = self.reduction() if reduces else self.layered() if layered else \
                self.formula(draw.integer(1, 3))
            name = self.fresh(LOCALS, self.taken)
            if not reduces and self.reads & self.whole:
                self.whole.add(name)
            body.append(f"{name} = {text}")
            self.values.append(name)
            self.unread.append(name)
        self.reads = set()
        last = self.formula(draw.integer(1, 2))
        for name in self.unread[:]:  # each value matters
            last = self.joined(last, self.read(name))
        last = self.completed(last)
        result = self.fresh(LOCALS, self.taken)
        body.append(f"{result} = {last}")
        names = [name for name, _ in self.inputs]
        grad = Extra("grad", self.shape, self.dtype) if self.backward else None
        code = writer.module(self.inputs, self.held, body, result, self.dtype, grad, names)
        return writer.written(code, self.shape, self.used)

    def joined(self, left, right):
        text, operator, _ = self.weighted(INFIX)
        self.used.append(operator)
        return self.infix(text, left, right)

    def infix(self, text, left, right):
        sums = " * " not in text
        return text.format(self.bracketed(left, SUM if sums else PRODUCT),
                           self.bracketed(right, PRODUCT if sums else CLOSED))

    def completed(self, text):
        """With the first value, where nothing that it reads has the result's shape."""
        return text if self.reads & self.whole else self.joined(text, self.read(self.start))

    def layer(self, layer):
        """What calls it."""
        name = self.fresh(layer.names, self.layers)
        self.held.append((name, layer.text))
        self.used.append(layer.operator)
        return f"self.{name}"

    def layered(self):
        """A layer of a value of the result's shape, or of what is computed with one."""
        value = self.completed(self.formula(self.draw.integer(0, 1)))
        return f"{self.layer(layers.keeping(self.draw, self.shape))}({value})"

    # -- what is drawn ------------------------------------------------------------------------------

    def weighted(self, table):
        return self.draw.random.choices(table, [row[-1] for row in table])[0]

    def fresh(self, names, taken):
        name = self.draw.choice(names)
        while name in taken:
            name = self.draw.choice(names) + str(self.draw.integer(1, 9))
        taken.add(name)
        return name

    def row(self):
        """The sizes of a parameter: along the last dimension, or along an image's channels."""
        return f"{self.shape[1]}, 1, 1" if len(self.shape) == 4 else str(self.shape[-1])

    def broadcast(self):
        """A shape that goes with the first input's."""
        kind = self.draw.weighted({"same": 6, "row": 2, "column": 2})
        if kind == "same":
            return self.shape
        if kind == "row":
            return self.shape[1:] if len(self.shape) > 2 else self.shape[-1:]
        return (*self.shape[:-1], 1)

    def number(self):
        return self.draw.choice(NUMBERS)

    # -- formulas -----------------------------------------------------------------------------------

    def read(self, name=None):
        """A value, one that is not read yet more often than not."""
        unread = self.draw.chance(0.6)
        if name is None:
            name = self.draw.choice(self.unread if unread and self.unread else self.values)
        if name in self.unread:
            self.unread.remove(name)
        self.reads.add(name)
        return name

    def formula(self, depth):
        """Text that computes something of `depth` operators or more."""
        if depth <= 0:
            return self.read()
        form = self.draw.weighted({"unary": 5, "infix": 8, "scaled": 3, "called": 2, "quotient": 1})
        if form == "unary":
            text, operators, _ = self.weighted(UNARY)
            result = self.filled(text, self.formula(depth - 1))
        elif form == "infix":
            text, operator, _ = self.weighted(INFIX)
            left = self.formula(depth - 1)
            count = len(self.used)
            right = self.formula(self.draw.integer(0, depth - 1))
            if right == left:
                del self.used[count:]
                right = self.other_than([left])
            result, operators = self.infix(text, left, right), (operator,)
        elif form == "scaled":
            text, operator, _ = self.weighted(SCALED)
            result = self.filled(text, self.bracketed(self.formula(depth - 1)))
            operators = (operator,)
        elif form == "called":
            plain = sum(not name.startswith("self.") for name in self.values)
            text, operators, _ = self.weighted([row for row in self.called
                                                if plain > 1 or " > {1}" not in row[0]])
            parts = [self.formula(depth - 1)]
            while "{%d}" % len(parts) in text:
                parts.append(self.other_than(parts, " > {%d}" % len(parts) in text))
            parts[0] = self.bracketed(parts[0]) if " > " in text else parts[0]
            result = self.filled(text, *parts)
        else:
            over, under = self.formula(depth - 1), self.read()
            result = self.filled("{0} / ({whole} + torch.abs({1}))", self.bracketed(over), under)
            operators = QUOTIENT
        self.used.extend(operators)
        return result

    def other_than(self, parts, compared=False):
        """A value that is not among them, where there is one: of maximum(x, x) nothing is learned.
        One that is `compared` is no parameter, as Python hands `x > parameter` to the parameter."""
        left = [name for name in self.values if name not in parts and
                not (compared and name.startswith("self."))]
        return self.read(self.draw.choice(left) if left else None)

    def reduction(self):
        text, operator, _ = self.weighted(REDUCED)
        inner = self.formula(self.draw.integer(0, 1))
        dims = "(2, 3)" if len(self.shape) == 4 and self.draw.chance(0.6) else \
            "1" if len(self.shape) == 4 else "-1"
        inner = self.completed(inner)
        self.used.append(operator)
        return text.format(inner, dims=dims)

    def filled(self, text, *parts):
        return text.format(*parts, number=self.number(), small=self.draw.choice(SMALL),
                           whole=self.draw.choice(WHOLE),
                           fraction=self.draw.choice(("0.1", "0.25", "0.3", "0.5", "0.75")))

    @staticmethod
    def bracketed(text, least=CLOSED):
        """In brackets where it binds weaker than that."""
        return text if strength(text) >= least else f"({text})"


def strength(text):
    """How what the text's formula does last binds: as a SUM, a PRODUCT, or CLOSED, a name or a
    call."""
    depth, found = 0, CLOSED
    for at, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth == 0 and (char in "+-" and text[at - 1:at] in ("", " ")):
            return SUM
        if depth == 0 and char in "*/":
            found = PRODUCT
    return found
