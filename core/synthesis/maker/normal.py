# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""When two tasks are the same, and how near a task is to a benchmark's.

All is told from what reading.py makes of a text, so that names, layout, order of constants, nesting
and the way an operator is spelled do not matter. kernelbench.json holds fingerprints of
KernelBench's problems: hashes, nothing of their texts. It is renewed by

    PYTHONPATH=core/synthesis python -m maker.normal --against DIR --out FILE
"""

import argparse
import collections
import hashlib
import json
import math
import pathlib
import sys

from maker.reading import Unreadable, read
from maker.reading_values import Number, Result
from maker.spellings import sequence

SHIPPED = pathlib.Path(__file__).resolve().parent / "kernelbench.json"
FORMAT = 1
LONGEST = 3  # lines of a shingle
BITS = 32


def exact_hash(code):
    """The same for tasks that compute the same of the same sizes."""
    return hash_of(rendered(read(code), exactly))


def near_hash(code):
    """The same where numbers differ by less than a power of two."""
    return hash_of(rendered(read(code), nearly))


def skeleton_hash(code):
    """The same where forward() is the same but for numbers."""
    return hash_of(lines_of(read(code).forward, None))


def operators(code):
    """What forward() computes: names of operators in order, however they are spelled."""
    return sequence(line.name for line in read(code).forward)


def fingerprint(code):
    """Hashes of the runs of one to LONGEST operators of forward() with their operands, as a set of
    whole numbers below 2**BITS."""
    return shingles(read(code))


def similarity(one, other):
    """From 0 to 1: the Jaccard index of the fingerprints of two texts; 1 where the same operators
    follow in the same order."""
    one, other = read(one), read(other)
    if sequence_hash(one) == sequence_hash(other):
        return 1.0
    return jaccard(shingles(one), shingles(other))


class Screen:
    """Fingerprints of tasks that others must not be like, as a file holds them or as add() does."""

    def __init__(self, path=None):
        self.names = []
        self.sizes = []
        self.places = collections.defaultdict(list)  # of a shingle: tasks that have it
        self.same = {}                               # of a sequence of operators: a task
        with open(path or SHIPPED, encoding="utf-8") as file:
            content = json.load(file)
        if content.get("format") != FORMAT:
            raise ValueError(f"{path or SHIPPED}: no fingerprints of format {FORMAT}")
        for task in content["tasks"]:
            digits = task["shingles"]
            self.insert(task["name"], task["sequence"],
                        {int(digits[at:at + BITS // 4], 16)
                         for at in range(0, len(digits), BITS // 4)})

    def insert(self, name, sequenced, shingled):
        place = len(self.names)
        self.names.append(name)
        self.sizes.append(len(shingled))
        self.same.setdefault(sequenced, place)
        for shingle in shingled:
            self.places[shingle].append(place)

    def nearest(self, code):
        """(similarity, name) of the task that is most alike; (0.0, "") where none has anything in
        common."""
        reading = read(code)
        same = self.same.get(sequence_hash(reading))
        if same is not None:
            return 1.0, self.names[same]
        found = shingles(reading)
        shared = collections.Counter(place for shingle in found
                                     for place in self.places.get(shingle, ()))
        best, name = 0.0, ""
        for place, count in shared.items():
            alike = count / (len(found) + self.sizes[place] - count)
            if alike > best:
                best, name = alike, self.names[place]
        return best, name


def jaccard(one, other):
    together = len(one | other)
    return len(one & other) / together if together else 1.0


def shingles(reading):
    lines = ["start", *lines_of(reading.forward, None, names_only=True), "end"]
    found = set()
    for length in range(1, LONGEST + 1):
        for at in range(len(lines) - length + 1):
            if length > 1 or 0 < at < len(lines) - 1:
                found.add(number_of("\n".join(lines[at:at + length])))
    return found


def sequence_hash(reading):
    return hash_of(sequence(line.name for line in reading.forward))


def rendered(reading, number):
    return [*lines_of(reading.construction, number), "forward",
            *lines_of(reading.forward, number), "inputs", *lines_of(reading.inputs, number)]


def lines_of(lines, number, names_only=False):
    """Lines as text: operands by their distance, inputs by the order of their first use. `number`
    renders numbers, None leaves them out."""
    order = {}
    found = []
    for place, line in enumerate(lines):
        operands = ",".join(operand_of(operand, place, order, number is not None)
                            for operand in line.operands)
        arguments = "" if names_only else ";".join(
            f"{word}={number(value.value) if isinstance(value, Number) else value.text}"
            for word, value in line.arguments
            if number is not None or not isinstance(value, Number))
        found.append(f"{line.name}({operands})[{arguments}]")
    return found


def operand_of(operand, place, order, exact):
    assert isinstance(operand, Result)
    if operand.where == "x":
        return f"x{order.setdefault(operand.place, len(order))}"
    if operand.where == "i":
        return f"i{operand.place}" if exact else "i"
    return f"-{place - operand.place}"


def exactly(value):
    return "?" if value is None else repr(float(value))


def nearly(value):
    """Whole numbers up to 4 as they are: they are ranks, strides, kernels."""
    if value is None:
        return "?"
    if value == 0 or abs(value) <= 4 and value == int(value):
        return repr(float(value))
    return f"{'-' if value < 0 else ''}2^{round(math.log2(abs(value)))}"


def hash_of(lines):
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def number_of(text):
    return int(hashlib.sha256(text.encode()).hexdigest()[:BITS // 4], 16)


def fingerprints_of(folder):
    """(tasks for a file, names of files that could not be read) of all tasks below a folder."""
    tasks, unread = [], []
    for path in sorted(folder.glob("**/*.py"), key=lambda path: path.as_posix()):
        try:
            reading = read(path.read_text(encoding="utf-8"))
        except (SyntaxError, Unreadable, UnicodeDecodeError):
            unread.append(path.name)
            continue
        tasks.append({
            "name": f"{path.parent.name}/{path.stem.partition('_')[0]}",
            "sequence": sequence_hash(reading),
            "shingles": "".join(f"{shingle:0{BITS // 4}x}"
                                for shingle in sorted(shingles(reading)))})
    return tasks, unread


def main():
    parser = argparse.ArgumentParser(description="fingerprints of a folder of tasks")
    parser.add_argument("--against", type=pathlib.Path, required=True, metavar="DIR")
    parser.add_argument("--out", type=pathlib.Path, required=True, metavar="FILE")
    arguments = parser.parse_args()
    tasks, unread = fingerprints_of(arguments.against)
    if not tasks:
        print(f"{arguments.against}: no tasks found", file=sys.stderr)
        return 2
    lines = ",\n".join(json.dumps(task) for task in tasks)
    arguments.out.write_text(f'{{"format": {FORMAT}, "tasks": [\n{lines}\n]}}\n', encoding="utf-8")
    print(f"{len(tasks)} tasks, {arguments.out.stat().st_size} bytes"
          + "".join(f"; not read: {name}" for name in unread))
    return 0


if __name__ == "__main__":
    sys.exit(main())
