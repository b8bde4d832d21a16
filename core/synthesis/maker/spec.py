# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What operators of the catalogue and the composer tell each other.

An operator says whether it can go on from a tensor (`Value`) and, where it can, how that is written
(`Step`). Shapes and element types of results are nobody's formula: the composer runs what is
written on meta tensors. Knows no torch.
"""

import random
from dataclasses import dataclass, field
from typing import Callable, Optional

FLOATING = ("float32", "float16", "bfloat16")

# What is known of a tensor's values, besides that they are finite and of moderate size.
ANY = "any"                  # about N(0, 1), or whatever an operator made of such
POSITIVE = "positive"        # above 0, not tiny
NON_NEGATIVE = "non_negative"
UNIT = "unit"                # strictly between 0 and 1
PROBABILITY = "probability"  # unit, sums to 1 along the last dimension
BOOLEAN = "boolean"
INDEX = "index"              # whole numbers, int64


def within(domain, wanted):
    """Whether every tensor of `domain` is also one of `wanted`."""
    wider = {PROBABILITY: UNIT, UNIT: POSITIVE, POSITIVE: NON_NEGATIVE, NON_NEGATIVE: ANY}
    while domain != wanted:
        if domain not in wider:
            return False
        domain = wider[domain]
    return True


@dataclass(frozen=True)
class Value:
    """A tensor on its way through a task."""

    shape: tuple
    dtype: str = "float32"
    domain: str = ANY
    below: int = 0  # an INDEX has values from 0 to `below` - 1

    @property
    def rank(self):
        return len(self.shape)

    @property
    def floating(self):
        return self.dtype in FLOATING


@dataclass(frozen=True)
class Extra:
    """A further input of the task, handed to forward() after those that are there.

    `layout`: "contiguous", or "transposed" (the last two dimensions swapped in memory), or
    "channels_last". An INDEX has values from 0 to `below` - 1."""

    name: str  # short: "bias", "other", "index"; the composer makes it unique
    shape: tuple
    dtype: str = "float32"
    domain: str = ANY
    layout: str = "contiguous"
    below: int = 0


@dataclass(frozen=True)
class Step:
    """How an operator is written behind the value `x`.

    `expression` is Python over torch, nn and F with places in braces: {x} the value, {m} the module
    (`self.conv`), and the names of `extras`. It calls exactly one public operator: "F.gelu({x})",
    "{m}({x})", "torch.max({x}, dim=-1).values". `module` makes {m}: "nn.Linear(512, 256)"; it is
    written into __init__. Numbers are literals, the composer finds those that follow the batch."""

    expression: str
    module: Optional[str] = None
    extras: tuple = ()
    domain: str = ANY  # of the result
    below: int = 0     # of the result, where it is an INDEX
    name: str = ""     # of the module's attribute: "conv", "norm"


class Draw:
    """Chance, the same on every machine for the same seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def choice(self, values):
        return self.random.choice(list(values))

    def chance(self, probability):
        return self.random.random() < probability

    def weighted(self, weights):
        """A key of a dictionary of weights."""
        return self.random.choices(list(weights), list(weights.values()))[0]

    def integer(self, low, high):
        """Both ends included."""
        return self.random.randint(low, high)

    def size(self, low=16, high=4096):
        """A size of a dimension: powers of two and their neighbours mostly, odd and prime ones,
        too."""
        kind = self.weighted({"power": 5, "eighth": 3, "odd": 1, "prime": 1})
        if kind == "power":
            powers = [1 << i for i in range(1, 24) if low <= 1 << i <= high]
            if powers:
                return self.choice(powers)
        drawn = round(low * (high / low) ** self.random.random())
        if kind == "eighth" and drawn >= 16:
            return max(low, drawn // 8 * 8)
        if kind == "odd":
            return drawn | 1 if drawn | 1 <= high else max(low, drawn - 1)
        if kind == "prime":
            for candidate in range(drawn, low - 1, -1):
                if is_prime(candidate):
                    return candidate
        return drawn


def is_prime(number):
    return number > 1 and all(number % i for i in range(2, int(number**0.5) + 1))


@dataclass(frozen=True)
class Operator:
    """A public operator that tasks may be made of.

    `name` is what a reader of the task calls it and what is recorded when it runs:
    "torch.nn.Conv2d", "torch.nn.functional.gelu", "torch.cumsum", "torch.linalg.vector_norm". `kind`
    is what it computes, the same for torch.relu, F.relu and nn.ReLU: "relu". `family` is one of
    FAMILIES. `follow(draw, value)` is a Step, or None where the operator cannot go on from such a
    value; it draws the same number of times whatever the size of the first dimension is. `starts`
    draws the value that a task may begin with for this operator's sake, for a batch of the given
    size: starts(draw, batch, dtype) is a Value whose shape holds the batch. `weight` is how often
    it is drawn among its family. `differentiable`: a backward pass is defined and deterministic."""

    name: str
    kind: str
    family: str
    follow: Callable[["Draw", Value], Optional[Step]] = field(compare=False)
    starts: Callable[["Draw", int, str], Value] = field(compare=False)
    weight: float = 1.0
    differentiable: bool = True


FAMILIES = ("activation", "elementwise", "binary", "reduction", "normalisation", "product",
            "convolution", "transposed convolution", "pooling", "scan", "layout", "indexing",
            "embedding", "upsampling", "attention", "recurrent", "loss", "distance", "sorting",
            "comparison", "linalg", "fft", "padding", "special")
