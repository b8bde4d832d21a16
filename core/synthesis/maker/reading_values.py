# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values that reading.py follows through a text, and what can be told of them unrun."""

import ast
import math
import operator
from dataclasses import dataclass, field

MOST_ROUNDS = 48
MOST_DEEP = 3      # lists in lists
MOST_OPERANDS = 99
FOLDED = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
          ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod}


@dataclass(frozen=True)
class Number:
    value: object = None  # None: not known


@dataclass(frozen=True)
class Plain:
    """A string, a truth value, None, or what is told by a text alone."""

    text: str


@dataclass(frozen=True)
class Result:
    """Of a line: `place` is its number, `where` "t" forward, "i" construction, "x" an input."""

    where: str
    place: int


@dataclass(frozen=True)
class Dotted:
    name: str


@dataclass(frozen=True)
class Bound:
    owner: object
    name: str


@dataclass(frozen=True)
class Layer:
    """A module of a library with the arguments it was built from."""

    name: str
    arguments: tuple


@dataclass(eq=False)
class Instance:
    of: ast.ClassDef
    attributes: dict = field(default_factory=dict)


@dataclass(eq=False)
class Many:
    items: list


@dataclass(eq=False)
class Function:
    node: object
    closed: dict


@dataclass(frozen=True)
class Line:
    """`operands`: Results; `arguments`: (keyword or "", Number or Plain), the module's, too."""

    name: str
    operands: tuple
    arguments: tuple


@dataclass(frozen=True)
class Reading:
    forward: tuple  # Lines
    construction: tuple
    inputs: tuple   # of get_inputs()


def collect(value, found, depth=0):
    if depth > MOST_DEEP or len(found) > MOST_OPERANDS:
        return
    if isinstance(value, Result):
        found.append(value)
    elif isinstance(value, Many):
        for item in value.items[:MOST_ROUNDS]:
            collect(item, found, depth + 1)
    elif isinstance(value, Bound):
        collect(value.owner, found, depth + 1)


def described(positional, keywords):
    """Arguments that are no results: (keyword, Number or Plain)."""
    found = []
    for word, value in [*(("", value) for value in positional), *sorted(keywords.items())]:
        found += plain_parts(word, value)
    return tuple(found)


def plain_parts(word, value, depth=0):
    if depth > MOST_DEEP:
        return []
    if isinstance(value, (Number, Plain)):
        return [(word, value)]
    if isinstance(value, Many):
        return [part for item in value.items[:MOST_ROUNDS]
                for part in plain_parts(word, item, depth + 1)]
    if isinstance(value, Dotted):
        return [(word, Plain(value.name))]
    if isinstance(value, Layer):
        return [(word, Plain(value.name)), *value.arguments]
    return []


def counted(name, positional):
    """range, enumerate, zip, len of what is known."""
    if name == "len" and positional and isinstance(positional[0], Many):
        return Number(len(positional[0].items))
    numbers = [value.value if isinstance(value, Number) else None for value in positional]
    if name == "range" and numbers and all(isinstance(value, int) for value in numbers) and \
            0 not in numbers[2:] and len(range(*numbers[:3])) <= MOST_ROUNDS:
        return Many([Number(value) for value in range(*numbers[:3])])
    if name == "enumerate" and positional and isinstance(positional[0], Many):
        return Many([Many([Number(place), item]) for place, item in enumerate(positional[0].items)])
    if name == "zip" and positional and all(isinstance(value, Many) for value in positional):
        return Many([Many(list(items)) for items in zip(*(value.items for value in positional))])
    return Number()


def truth(value):
    """Whether a value is true, None where that is not known."""
    if isinstance(value, Plain) and value.text in ("True", "False", "None"):
        return value.text == "True"
    if isinstance(value, Number) and value.value is not None:
        return bool(value.value)
    if isinstance(value, (Layer, Instance, Function)):
        return True
    if isinstance(value, Many):
        return bool(value.items)
    return None


def folded(kind, left, right):
    """A number of numbers where that is quick."""
    if not isinstance(left, Number) or not isinstance(right, Number) or \
            None in (left.value, right.value):
        return Number()
    try:
        if isinstance(kind, ast.Pow):
            return Number(math.pow(left.value, right.value))
        result = FOLDED[type(kind)](left.value, right.value)
        return Number(result) if abs(result) < 1e15 else Number()
    except (ArithmeticError, KeyError, ValueError):
        return Number()


def extreme(name, values):
    """min() and max() of numbers, another number for what else there is."""
    numbers = [value.value if isinstance(value, Number) else None for value in values]
    if name not in ("min", "max") or None in numbers or not numbers:
        return Number()
    return Number(min(numbers) if name == "min" else max(numbers))
