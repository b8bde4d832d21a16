# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What `compositions.py` composes with: a task while it grows, values with their shape, dtype and
range, and the tables of pointwise operators."""
import collections
import math

HALVES = ("float16", "bfloat16")
LARGEST = {"float16": 6e4}
RESOLUTION = {"float16": 0.02, "bfloat16": 0.1}
ELEMENTS = {"tiny": (400, 4_000), "small": (150_000, 2_500_000), "large": (12_000_000, 100_000_000)}

# `low` and `high` bound the values (normal draws count as within 6.5), `usual` is where most of them
# lie. `exact` says that no rounding happened yet, so that a comparison or an argmax has one right
# answer; `constant` which of "sums" and "extremes" along some dimension would not depend on the
# inputs (after a softmax or a normalisation; after a clamp).
Value = collections.namedtuple("Value", "name shape dtype low high usual exact constant")
NOTHING, SUMS, EXTREMES = frozenset(), frozenset(["sums"]), frozenset(["extremes"])


DRAWS = {"randn": (-6.5, 6.5, (-2, 2)), "rand": (0, 1, (0.03, 0.97)), "shifted": (0.5, 1.5, (0.53, 1.47))}


class Task:
    """One composition while it grows. Steps return the new value, or None where they do not apply."""

    def __init__(self, rng, scale):
        self.rng, self.scale = rng, scale
        self.sizes, self.init, self.inputs, self.lines, self.values, self.steps = {}, [], [], [], [], []
        self.limit = 1.6 * ELEMENTS[scale][1]  # elements of any value

    def size(self, extent):
        """The name of a module-level constant with that value; small and derived extents stay numbers."""
        return next((name for name, value in self.sizes.items() if value == extent), str(extent))

    def text(self, shape):
        return ", ".join(self.size(extent) for extent in shape)

    def input(self, shape, kind="randn", dtype="float32", expression=None):
        name = "xyzuvw"[len(self.inputs)]
        draw = expression or f"torch.{kind}({self.text(shape)})"
        self.inputs.append((name, draw if dtype in ("float32", "int64") else f"{draw}.to(torch.{dtype})"))
        return Value(name, tuple(shape), dtype, *DRAWS[kind], True, NOTHING)

    def parameter(self, shape, positive=False):
        name = f"p{sum('nn.Parameter' in line for line in self.init)}"
        draw = f"torch.rand({self.text(shape)}) + 0.5" if positive else f"torch.randn({self.text(shape)})"
        self.init.append(f"self.{name} = nn.Parameter({draw})")
        return Value(f"self.{name}", tuple(shape), "float32", *DRAWS["shifted" if positive else "randn"], True, NOTHING)

    def module(self, constructor):
        name = f"m{sum(' = nn.' in line and 'Parameter' not in line for line in self.init)}"
        self.init.append(f"self.{name} = {constructor}")
        return f"self.{name}"

    def emit(self, expression, shape, dtype, low, high, usual, exact=False, constant=NOTHING):
        if dtype != "bool" and (not math.isfinite(low + high) or max(-low, high) > LARGEST.get(dtype, 1e18)):
            return None
        usual = max(usual[0], low), min(usual[1], high)
        # Nearly equal values, where only rounding would be left, make no task.
        if usual[1] - usual[0] <= RESOLUTION.get(dtype, 1e-3) * max(map(abs, usual)):
            return None
        if math.prod(shape) > self.limit:
            return None
        name = f"v{len(self.lines)}"
        self.lines.append(f"{name} = {expression}")
        return Value(name, tuple(shape), dtype, low, high, usual, exact, constant)

    def moved(self, value, expression, shape=None, dtype=None):
        """The same values elsewhere."""
        return self.emit(expression, value.shape if shape is None else shape, dtype or value.dtype, value.low, value.high,
                         value.usual, value.exact and dtype in (None, "float32"), value.constant)


def promoted(a, b):
    if a == b:
        return a
    return a if b in ("int64", "bool") else b if a in ("int64", "bool") else "float32"


def broadcast(a, b):
    """The shape of both, or None."""
    rank = max(len(a), len(b))
    a, b = (1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b
    if any(m != n and 1 not in (m, n) for m, n in zip(a, b)):
        return None
    return tuple(max(m, n) for m, n in zip(a, b))


COMBINE = {
    "add": ("{0} + {1}", lambda a, b: a + b), "sub": ("{0} - {1}", lambda a, b: a - b), "mul": ("{0} * {1}", lambda a, b: a * b),
    "div": ("{0} / ({1}.abs() + 1)", lambda a, b: a / (abs(b) + 1)), "gate": ("{0} * torch.sigmoid({1})", lambda a, b: a * sigmoid(b)),
    "maximum": ("torch.maximum({0}, {1})", max), "minimum": ("torch.minimum({0}, {1})", min),
    "lerp": ("torch.lerp({0}, {1}, 0.375)", lambda a, b: a + 0.375 * (b - a)),
    "addcmul": ("torch.addcmul({0}, {0}, {1}, value=0.5)", lambda a, b: a + 0.5 * a * b),
    "where": ("torch.where({1} > 0, {0}, {1})", lambda a, b: a if b > 0 else b),
}


def combine(task, op, a, b):
    """Arithmetic of two values with broadcasting."""
    shape, dtype = broadcast(a.shape, b.shape), promoted(a.dtype, b.dtype)
    if shape is None or math.prod(shape) > max(math.prod(a.shape), math.prod(b.shape)):
        return None
    if op == "where" and not (a.exact and b.exact) or op in ("lerp", "addcmul", "maximum", "minimum") and a.dtype != b.dtype:
        op = "add"
    form, function = COMBINE[op]

    def corners(first, second):
        values = [function(m, n) for m in (*first, sum(first) / 2) for n in (*second, sum(second) / 2)]
        return min(values), max(values)

    return task.emit(form.format(a.name, b.name), shape, dtype, *corners((a.low, a.high), (b.low, b.high)),
                     corners(a.usual, b.usual), constant=a.constant | b.constant)


ARITHMETIC = (*COMBINE, "mul")


def softplus(x):
    return max(x, 0) + math.log1p(math.exp(-abs(x)))


def sigmoid(x):
    return 1 / (1 + math.exp(-max(x, -500)))


def cut(low, high):
    return lambda x: min(max(x, low), high)


# name: (expression, what it computes, smallest and largest argument); all continuous, so that
# rounding stays small.
ANY, POSITIVE = (-1e9, 1e9), (0, 1e9)
UNARY = {
    "relu": ("torch.relu({})", cut(0, 1e18), ANY), "sigmoid": ("torch.sigmoid({})", sigmoid, ANY),
    "tanh": ("torch.tanh({})", math.tanh, ANY), "gelu": ("F.gelu({})", lambda x: x / 2 * (1 + math.erf(x / 2 ** 0.5)), ANY),
    "gelu tanh": ("F.gelu({}, approximate='tanh')", lambda x: x * sigmoid(1.6 * x + 0.07 * x ** 3), (-1e4, 1e4)),
    "silu": ("F.silu({})", lambda x: x * sigmoid(x), ANY), "mish": ("F.mish({})", lambda x: x * math.tanh(softplus(x)), ANY),
    "softplus": ("F.softplus({})", softplus, ANY), "elu": ("F.elu({}, alpha=0.75)", lambda x: max(x, 0.75 * math.expm1(min(x, 0))), ANY),
    "selu": ("F.selu({})", lambda x: 1.05 * max(x, 1.67 * math.expm1(min(x, 0))), ANY),
    "leaky_relu": ("F.leaky_relu({}, 0.1)", lambda x: max(x, 0.1 * x), ANY),
    "hardtanh": ("F.hardtanh({}, -1.5, 2.0)", cut(-1.5, 2), ANY), "relu6": ("F.relu6({})", cut(0, 6), ANY),
    "hardswish": ("F.hardswish({})", lambda x: x * cut(0, 1)(x / 6 + 0.5), ANY),
    "hardsigmoid": ("F.hardsigmoid({})", lambda x: cut(0, 1)(x / 6 + 0.5), ANY),
    "softsign": ("F.softsign({})", lambda x: x / (1 + abs(x)), ANY),
    "logsigmoid": ("F.logsigmoid({})", lambda x: -softplus(-x), ANY),
    "tanhshrink": ("F.tanhshrink({})", lambda x: x - math.tanh(x), ANY),
    "softshrink": ("F.softshrink({}, 0.25)", lambda x: x - cut(-0.25, 0.25)(x), ANY),
    "abs": ("{}.abs()", abs, ANY), "neg": ("-{}", lambda x: -x, ANY), "square": ("{}.square()", lambda x: x * x, (-200, 200)),
    "cube": ("{} ** 3", lambda x: x ** 3, (-20, 20)), "power": ("({}.abs() + 0.25) ** 1.5", lambda x: (abs(x) + 0.25) ** 1.5, (-200, 200)),
    "exp": ("torch.exp({})", math.exp, (-40, 8)), "exp of minus": ("torch.exp(-{}.abs())", lambda x: math.exp(-abs(x)), (-60, 60)),
    "expm1": ("torch.expm1({})", math.expm1, (-8, 8)), "log": ("torch.log({} + 0.5)", lambda x: math.log(x + 0.5), POSITIVE),
    "log1p": ("torch.log1p({}.abs())", lambda x: math.log1p(abs(x)), ANY), "sqrt": ("torch.sqrt({} + 0.125)", lambda x: math.sqrt(x + 0.125), POSITIVE),
    "rsqrt": ("torch.rsqrt({} + 0.25)", lambda x: (x + 0.25) ** -0.5, POSITIVE),
    "reciprocal": ("torch.reciprocal({} + 1.5)", lambda x: 1 / (x + 1.5), POSITIVE),
    "sin": ("torch.sin({})", math.sin, (-60, 60)), "cos": ("torch.cos({})", math.cos, (-60, 60)),
    "atan": ("torch.atan({})", math.atan, ANY), "erf": ("torch.erf({})", math.erf, ANY),
    "times": ("{} * 0.7", lambda x: 0.7 * x, ANY), "over": ("{} / 3", lambda x: x / 3, ANY),
    "plus": ("{} + 1.25", lambda x: x + 1.25, ANY), "from": ("2.5 - {}", lambda x: 2.5 - x, ANY),
    "clamp": ("torch.clamp({}, min=-1.0, max=1.5)", cut(-1, 1.5), ANY), "clamp below": ("{}.clamp(min=0.125)", cut(0.125, 1e18), ANY),
    "nan_to_num": ("torch.nan_to_num({})", lambda x: x, ANY),
}
EXACT = {"neg", "abs", "nan_to_num"}
LINEAR = {"neg", "times", "over", "plus", "from", "nan_to_num"}  # sums that were constant stay so
CLIPS = {"relu", "relu6", "hardtanh", "hardswish", "hardsigmoid", "softshrink", "clamp", "clamp below"}


def image(function, interval):
    low, high = interval
    points = [low + (high - low) * i / 24 for i in range(25)] + [p for p in (-1.57, -0.75, 0.0, 1.57) if low < p < high]
    values = [function(p) for p in points]
    return min(values), max(values)


JUMPS = {  # only of exact values: one right answer
    "where": ("torch.where({0} > 0.25, {0}, 0.5 * {0})", "same"), "sign": ("torch.sign({0})", "same"),
    "floor": ("torch.floor({0})", "same"), "compare": ("({0} >= 0.125)", "bool"),
    "hardshrink": ("F.hardshrink({0}, 0.5)", "same"), "between": ("(({0} > -1) & ({0} < 0.75))", "bool"),
    "masked_fill": ("{0}.masked_fill({0} < -0.5, -2.0)", "same"), "threshold": ("F.threshold({0}, 0.125, -1.0)", "same"),
    "round": ("torch.round({0})", "same"),
}
