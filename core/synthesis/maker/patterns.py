# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How often operators occur in the code of real models, and which family of them follows which.

patterns.json holds counts over all modelling files of transformers: of every class the operators of
its forward() are read, and an operator follows those whose results it takes. It is renewed by

    PYTHONPATH=core/synthesis python -m maker.patterns [--out FILE]
"""

import argparse
import collections
import functools
import json
import math
import pathlib
import re
import sys

from maker.reading import Finished, Reader
from maker.reading_values import Dotted, Instance, Layer, Number, Result
from maker.spec import FAMILIES
from maker.spellings import SILENT, canonical

SHIPPED = pathlib.Path(__file__).resolve().parent / "patterns.json"
FORMAT = 1
START, END = "start", "end"
UNSEEN = 0.3  # of the weight is spread evenly, so that what no model does occurs, too
# Blocks that a class calls by the family that they stand for; others end a chain and begin one.
BLOCKS = ((r"^block .*norm", "normalisation"), (r"^block .*attention", "attention"),
          (r"^block .*(mlp|feed_?forward|ffn)", "product"),
          (r"^act2fn$|^block .*activation", "activation"))


@functools.lru_cache(maxsize=None)
def counts():
    with open(SHIPPED, encoding="utf-8") as file:
        content = json.load(file)
    if content.get("format") != FORMAT:
        raise ValueError(f"{SHIPPED}: no counts of format {FORMAT}")
    return content


@functools.lru_cache(maxsize=None)
def transition_weights(previous):
    """{family: weight} of what follows an operator of a family, or "start"; "end" is one of them.
    The weights sum to 1 and none is 0."""
    seen = counts()["follow"].get(previous, {})
    total = sum(seen.values())
    names = FAMILIES + (END,)
    even = 1 / len(names)
    share = UNSEEN if total else 1.0
    return {name: share * even + (1 - share) * (seen.get(name, 0) / total if total else 0)
            for name in names}


def operator_weight(name):
    """How much more often an operator is wanted than one that no model has: 1 for such, and by the
    logarithm of its count for others."""
    return 1 + math.log2(1 + counts()["operators"].get(canonical(name), 0))


class Modelling(Reader):
    """Reads single classes of a modelling file; blocks of the same file stay closed."""

    def __init__(self, tree):
        super().__init__(tree, needed=None)

    def lines_of(self, described):
        """Lines of forward(), the results of blocks among them."""
        instance = Instance(described)
        unknown = [Result("x", place) for place in range(20)]
        self.built = self.collected("i", lambda: self.construct(instance, unknown, {}))
        return self.collected("t", lambda: self.call_method(instance, "forward", unknown, {}))

    def apply(self, function, positional, keywords):
        if isinstance(function, Instance) and self.where == "t":
            return self.emit("block " + function.of.name.lower(), positional, keywords)
        if isinstance(function, Result) and function.where == "i" and self.where == "t":
            return self.emit("block", positional, keywords)
        return super().apply(function, positional, keywords)

    def of_BinOp(self, node, scope):
        """Arithmetic of what the configuration says is none of tensors."""
        left, right = self.evaluate(node.left, scope), self.evaluate(node.right, scope)
        if self.where == "i" or not any(isinstance(value, (Result, Layer)) and
                                        getattr(value, "where", "t") != "i"
                                        for value in (left, right)):
            return Number()
        return self.joined(node, left, right)

    def of_Subscript(self, node, scope):
        """ACT2FN[...] is an activation."""
        owner = self.evaluate(node.value, scope)
        if isinstance(owner, Dotted) and owner.name.endswith("ACT2FN"):
            return Layer("act2fn", ())
        return super().of_Subscript(node, scope)


def count(trees, family_of):
    """Counts over modelling files. `family_of`: {canonical name: family}."""
    follow = collections.defaultdict(collections.Counter)
    operators = collections.Counter()
    classes = 0
    for tree in trees:
        reader = Modelling(tree)
        for described in list(reader.statements.values()):
            if not getattr(described, "bases", None) or \
                    reader.method_of(described, "forward") is None:
                continue
            try:
                lines = reader.lines_of(described)
            except (Finished, RecursionError):
                continue
            classes += 1
            add(lines, family_of, follow, operators)
    return {"format": FORMAT, "classes": classes,
            "follow": {name: dict(sorted(row.items())) for name, row in sorted(follow.items())},
            "operators": dict(sorted(operators.items()))}


def add(lines, family_of, follow, operators):
    """Counts of one forward()."""
    sources = {}  # of a line: families of what its result comes from
    used = set()
    for place, line in enumerate(lines):
        before = set()
        for operand in line.operands:
            if operand.where == "x":
                before.add(START)
            elif operand.where == "t":
                before |= sources.get(operand.place, set())
                used.add(operand.place)
        family = family_named(line.name, family_of)
        if family is None:
            # What only moves data is looked through; behind anything else a new chain begins.
            sources[place] = before if line.name in SILENT else {START}
            continue
        if line.name in family_of:
            operators[line.name] += 1
        for previous in before:
            follow[previous][family] += 1
        sources[place] = {family}
    for place, families in sources.items():
        if place not in used:
            for family in families - {START}:
                follow[family][END] += 1


def family_named(name, family_of):
    if name in SILENT:
        return None
    if name in family_of:
        return family_of[name]
    return next((family for pattern, family in BLOCKS if re.search(pattern, name)), None)


def main():
    from maker.model_source import modelling_files, tree_of
    from maker.operators.catalogue import all_operators

    parser = argparse.ArgumentParser(description="counts operators in transformers' models")
    parser.add_argument("--out", type=pathlib.Path, default=SHIPPED, metavar="FILE")
    arguments = parser.parse_args()
    family_of = {canonical(operator.name): operator.family for operator in all_operators()}
    found = count((tree_of(name) for name in modelling_files()), family_of)
    lines = json.dumps(found, indent=1)
    arguments.out.write_text(lines + "\n", encoding="utf-8")
    print(f"{found['classes']} classes, {sum(found['operators'].values())} operators, "
          f"{arguments.out.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
