# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Index maps of prompts, element by element, against ATen: usage index_map_test.py CUDA_AGENT

Prompts of modules that view a tensor in all ways that have a map are made by `cuda-agent corpus`; their operators are
then computed one after the other, and each map has to name the elements that its operator's result has.
"""

import gzip
import itertools
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import torch

CUDA_AGENT = sys.argv.pop()
MODULE = """import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, x):
        return {}


def get_inputs():
    return [torch.randn({})]


def get_init_inputs():
    return []
"""
# What forward() returns, by the sizes of x.
MODULES = {
    "2, 3, 4, 5": [
        "x.permute(0, 2, 1, 3) * 2", "x.reshape(6, 20).flip(1) + 1", "x.view(2, 12, 5)[:, 2:9:2] * 2",
        "F.pad(x, (1, 2, 0, 1, 2, 0), value=3.0) * 2", "F.pad(x, (-1, 2)) * 2", "torch.cat([x, x * 2, x[:, :1]], 1) + 1",
        "sum(part.sum(2) for part in x.split([2, 1, 1], dim=2))", "x.repeat(1, 2, 1, 3) + 1", "torch.roll(x, 2, 3) * 2",
        "x[:, 1].unsqueeze(-1).expand(2, 4, 5, 3) * 2", "x.diagonal(1, 1, 3) * 2", "x.diagonal(-1, 2, 3) * 2",
        "x.unfold(3, 3, 2) * 2", "torch.diagonal_scatter(x, x[..., 0] * 2, 0, -2, -1)", "x.mT.flatten(1) * 2",
        "torch.slice_scatter(x, x[:, :, 1:3] * 2, 2, 1, 3) + 1", "torch.select_scatter(x, x[:, 1] * 3, 1, 2) + 1",
        "x[:, :, torch.tensor([3, 0, 1])[:, None], torch.tensor([1, 4])] * 2", "x[torch.tensor([1, 0, 1])] * 2",
        "x[torch.tensor([1, 0, 1]), :, torch.tensor([2, 2, 3])] * 2",
        "torch.index_select(x, 2, torch.tensor([1, 1, 3, 0, 2])) * 2",
        "torch.gather(x, 1, torch.remainder((x[:, :2] * 10).long(), 3)) * 2",
        "F.embedding(torch.remainder((x * 10).long(), 4), x[0, 0]) * 2", "F.interpolate(x, scale_factor=2) * 2",
        "F.interpolate(x, size=(3, 7)) * 2", "F.interpolate(x, size=(6, 7), mode='bilinear') * 2",
        "F.interpolate(x, scale_factor=2.5, mode='bilinear', align_corners=True) * 2",
        "F.channel_shuffle(x.permute(0, 2, 1, 3), 2) + 1", "x.rot90(1, (2, 3)) * 2", "F.unfold(x, 2) * 2",
        "x.reshape(2, 3, 2, 2, 5).transpose(1, 3).reshape(4, 3, 10) * 2", "x[..., -1] * x[..., ::2].sum(-1)",
        "x.sum((1, 3), keepdim=True) * 2", "x.mean(1) * 2", "x.amax((0, -1)) * 2", "x.amin(2, keepdim=True) * 2",
        "x.max(1)[0] * x.min(1)[0]", "torch.linalg.vector_norm(x, 2, (1, 2)) * 2", "x.sum() * 2",
        "torch.any(x > 1, -1) * 2.0"],
    "2, 3, 4, 6": ["F.interpolate(x, scale_factor=1.5) * 2", "F.interpolate(x, scale_factor=1.5)[..., 7] * 2",
                   "F.interpolate(x, size=(7, 9), mode='nearest-exact')[:, :, 3] * 2", "F.avg_pool2d(x, 2) * 2", "F.pixel_unshuffle(x, 2) + 1",
                   "x.unflatten(3, (2, 3)).sum(3)", "F.adaptive_avg_pool2d(x, (2, 3)) * 2"],
    "2, 1, 4, 5": ["x.squeeze(1).reshape(20, 2) * 1.5"],
    "2, 4, 3, 5": ["F.pixel_shuffle(x, 2) + 1"],
    "2, 4, 5": ["F.pad(x, (1, 2), mode='circular') * 2", "F.pad(x, (1, 2), mode='reflect') * 2",
                "F.avg_pool1d(x, 3, 2, 1) * 2", "F.interpolate(x, size=8, mode='linear') * 2", "F.interpolate(x, size=10) * 2",
                "F.interpolate(x, size=7, mode='nearest-exact') * 2"],
    "2, 2, 3, 4, 5": ["F.interpolate(x, scale_factor=1.5) * 2", "F.interpolate(x, size=(6, 4, 7), mode='trilinear') * 2",
                      "F.interpolate(x, scale_factor=(2, 1, 3), mode='nearest-exact').mT * 2",
                      "F.adaptive_avg_pool3d(x, (1, 2, 5)) * 2", "F.avg_pool3d(x, 2, 1) * 2", "F.max_pool3d(x, 2, 1, 1) * 2"],
    # Views of views, and inputs of another memory order.
    "2, 3, 5, 4": [
        "x.permute(0, 2, 3, 1)[:, torch.tensor([3, 0, 1])[:, None], torch.tensor([1, 2])] * 2", "x.mT[:, :, 1:].flip(2) * 2",
        "F.pad(x.mT, (2, 1))[..., 1:] * 2", "F.pad(F.pad(x, (0, 2)).mT, (1, 0)) * 2", "x.mT.reshape(2, 12, 5)[:, 3:9:2] * 2",
        "F.interpolate(x.mT, scale_factor=2)[:, 1, 1:] * 2", "F.interpolate(x.mT, size=(7, 3)) * 2",
        "F.interpolate(x.mT[:, 1].unsqueeze(1).expand(2, 4, 4, 5), size=(7, 3), mode='bilinear') * 2",
        "F.interpolate(x, size=(7, 3), mode='bilinear')[:, 1].mT * 2",
        "F.interpolate(x, size=(7, 3), mode='bicubic') * 2", "F.interpolate(x[:, 1:], scale_factor=1.5, mode='bicubic') * 2",
        "F.interpolate(x.mT, size=(4, 8), mode='bicubic', align_corners=True) * 2",
        "x.mT[:, 1:].contiguous().view(2, 2, 4, 5, 1).sum(2) * 2", "F.avg_pool2d(F.pad(x.mT, (1, 0)), 2) * 2",
        "torch.cat([x.mT[:, :, 1:], F.pad(x.mT, (0, 1))[..., 1:]], 2) * 2", "x.repeat(1, 2, 1, 1)[:, 1:5].flip(1) * 2",
        "x.flip(2)[:, :, 1:].flip(2) * 2", "x[..., 1:].unfold(3, 2, 1).permute(0, 4, 1, 2, 3)[:, 0] * 2",
        "sum(part.mT.sum(2) for part in x[:, :, 1:].split([2, 2], 2))", "x.diagonal(1, 1, 2).mT[:, 1:] * 2",
        "F.embedding(torch.remainder((x.mT * 10).long(), 4)[:, :, 1:], x[0, 0].mT) * 2"],
    "2, 3, 5, 4).to(memory_format=torch.channels_last": [
        "x[:, :, 1:] - x[:, :, :-1]", "F.pad(x, (1, 0)) * 2", "x.permute(0, 2, 3, 1) * 2", "x.mT.sum(1) * 2",
        "torch.cat([x[:, 1:], x[:, :1]], 1) * 2", "F.interpolate(x, size=(10, 6), mode='bilinear') * 2"],
    # Views of what is computed element by element.
    "3, 6, 4": [
        "(x * x[0, 0]).flip(2) * 2", "F.pad(F.gelu(x) + 1, (1, 2))[:, 1:] * 2", "(torch.sigmoid(x.mT) - x[:, 1:2].mT).flip(1) * 2",
        "torch.cat([x.exp() * x.mean(1, keepdim=True), x.neg()], 1) * 2", "(x * x.amax(2, keepdim=True)).sum(1) * 2",
        "torch.where(x > 0, x.flip(0), x.mean()).reshape(6, 12)[1:] * 2", "F.max_pool1d(x.relu(), 2) * 2",
        "(x[:, 1:] - x[:, :-1]).permute(2, 0, 1) * 2", "F.interpolate(F.pad(x, (1, 0)).abs(), scale_factor=2) * 2"],
    "2, 3, 8, 9": ["F.max_pool2d(x, (3, 2), stride=(2, 1), padding=1, dilation=(1, 2)) * 2"],
}
MAPPED = {"_adaptive_avg_pool2d", "_adaptive_avg_pool3d", "amax", "amin", "any", "avg_pool2d", "avg_pool3d", "cat", "clone",
          "constant_pad_nd", "diagonal", "diagonal_scatter", "embedding", "expand", "flip", "gather", "getitem", "index",
          "index_select", "linalg_vector_norm", "max", "max_pool2d_with_indices", "max_pool3d_with_indices", "mean", "min",
          "permute", "repeat", "select", "slice", "slice_scatter", "squeeze", "sum", "unfold", "unsqueeze",
          "_upsample_nearest_exact1d", "_upsample_nearest_exact2d", "_upsample_nearest_exact3d", "upsample_bicubic2d",
          "upsample_bilinear2d", "upsample_linear1d", "upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d", "upsample_trilinear3d", "view"}


class Elements:
    """A tensor that is read one element at a time: outside of it IndexError, also at negative places."""

    def __init__(self, tensor):
        self.tensor = tensor

    def __getitem__(self, places):
        places = places if isinstance(places, tuple) else (places,)
        if len(places) != self.tensor.dim() or not all(0 <= p < n for p, n in zip(places, self.tensor.shape)):
            raise IndexError(f"{places} of {list(self.tensor.shape)}")
        return self.tensor[tuple(int(p) for p in places)].item()


class Between(Elements):
    """The same at places between elements: all dimensions interpolated, over the last element the last."""

    def __getitem__(self, places):
        total = 0.0
        for corner in itertools.product((0, 1), repeat=len(places)):
            weight = 1.0
            at = []
            for place, side, size in zip(places, corner, self.tensor.shape):
                low = int(place)
                weight *= place - low if side else 1 - (place - low)
                at.append(min(low + side, size - 1))
            if weight:
                total += weight * super().__getitem__(tuple(at))
        return total


class Cubic(Elements):
    """Those of four neighbours along each dimension that is not at a whole place, over the border the last ones."""

    def __getitem__(self, places):
        def weight(x, a=-0.75):
            x = abs(x)
            return ((a + 2) * x - (a + 3)) * x * x + 1 if x <= 1 else ((a * x - 5 * a) * x + 8 * a) * x - 4 * a

        lows = [math.floor(place) for place in places]
        taps = [range(-1, 3) if place != low else (0,) for place, low in zip(places, lows)]
        return sum(math.prod(weight(place - low - k) for place, low, k in zip(places, lows, at)) *
                   super(Cubic, self).__getitem__(tuple(min(max(low + k, 0), size - 1)
                                                        for low, k, size in zip(lows, at, self.tensor.shape)))
                   for at in itertools.product(*taps))


def computed(line, values):
    """The result of "name = aten.op(arguments) type", by the values before it."""
    part = re.match(r"\w+ = (\w+)\[(\d+)\] ", line)
    if part:
        return values[part[1]][int(part[2])]
    op, arguments = re.match(r"\w+ = aten\.(\w+)\((.*)\) \w+\[[^\]]*\](?:, \w+\[[^\]]*\])*$", line).groups()
    arguments = re.sub(r'(, )?memory_format="[^"]*"', "", re.sub(r"dtype=(\w+)", r"dtype=torch.\1", arguments))
    if op == "constant_pad_nd": # pairs, outermost first, where ATen has one list that begins with the last dimension
        pairs = re.findall(r"\((-?\d+), (-?\d+)\)", arguments)
        arguments = re.sub(r"\[\(.*\)\]", str([int(n) for pair in reversed(pairs) for n in pair]), arguments)
    op = "reshape" if op == "view" else op # a copy's memory may lie in another order here
    result = eval(f"torch.ops.aten.{op}({arguments})", {"torch": torch, **values})
    return result.zero_() if op == "empty" else result


def element(name, lines, leaves):
    """An element of what is computed one by one, by its leaves' values: {"in0": [1.5]}, several of one that is read at
    several places, in the order in which they are asked for. Views between them are of their first operand."""
    if name in leaves:
        return leaves[name].pop(0) if len(leaves[name]) > 1 else leaves[name][0]
    op, operands = re.match(r"\w+ = aten\.(\w+)\((.*)\) ", lines[name]).groups()
    operands = [word for word in re.findall(r"\w+", operands) if word in lines or word in leaves]
    if op in MAPPED:
        return element(operands[0], lines, leaves)
    found = {}
    for operand in operands:
        if operand not in found:
            found[operand] = torch.tensor(element(operand, lines, leaves))
    return computed(lines[name], found).item()


def told(right, values, orders, places, lines):
    """What the right side of a map says of the element at `places`, a number for each letter."""
    values = values | {f"memory_{name}": values[name].permute(order) for name, order in orders.items()}
    scalars = {name: value.item() for name, value in values.items() if value.dim() == 0}
    names = {name: Elements(value) for name, value in values.items()} | scalars | places
    names["clampmin"] = max

    def number(text, more):
        """The value of "permute[a, b] = in0[b, a] at [a, b]": of each step, of the place in memory, and of "mul[a] by
        in0[a], in1[0]": of what it is computed of."""
        text, _, by = text.partition(" by ")
        if by:
            value = number(text, more)
            leaves = {}
            for leaf in re.findall(r"(?:[^,[]|\[(?:[^][]|\[[^]]*\])*\])+", by):
                name = re.match(r"\w+", re.sub("^.*neighbours of ", "", leaf.strip()))[0]
                leaves.setdefault(name, []).append(number(leaf.strip(), more))
            if "between" not in text:
                of = element(re.match(r"\w+", text.split(" = ")[-1])[0], lines, leaves)
                assert abs(of - value) < 1e-4, f"{of}, not {value}, by {by}"
            return value
        text, _, place = text.partition(" at ")
        steps = text.split(" = ")
        if place:
            steps.append(re.sub(r"(\w+)\[.*", r"memory_\1" + place, steps[-1]))
        found = [number_of(step.replace("/", "//"), more) for step in steps]
        for other in found:
            assert abs(other - found[0]) < 1e-4, f"{found} of {text}{place}"
        return found[0]

    def number_of(step, more):
        for before, kind in (("between neighbours of ", Between), ("cubic between 4 neighbours of ", Cubic)):
            if step.startswith(before):
                return eval(step.removeprefix(before), {**names, **{n: kind(v) for n, v in values.items()}, **more})
        return eval(step, {**names, **more})

    def first(pieces, more={}):
        """The value of the first of "in0[a] where a < 8; in1[a - 8] where a >= 8" whose condition holds."""
        for piece in pieces.split("; "):
            inner, _, condition = piece.partition(" where ")
            condition, _, otherwise = condition.partition(", else ")
            if not condition or number_of(condition, more):
                return number(inner, more)
            if otherwise:
                return number(otherwise, more)
        raise ValueError(f"no piece of {right} has {places}")

    if window := re.match(r"(\w+) over (.*?) of (.*)$", right):
        loops = re.findall(r"(r\d+) < (\d+)", window[2])
        found = []
        for at in itertools.product(*(range(int(size)) for _, size in loops)):
            try:
                found.append(first(window[3], {name: i for (name, _), i in zip(loops, at)}))
            except IndexError: # the border
                found += [0.0] if window[1] == "mean" else []
        return {"max": max, "min": min, "any": any, "sum": sum, "mean": lambda all: sum(all) / len(all),
                "norm": lambda all: sum(x * x for x in all) ** 0.5}[window[1]](found)
    return first(right)


class IndexMapTest(unittest.TestCase):
    def prompts(self):
        with tempfile.TemporaryDirectory() as folder:
            tasks = pathlib.Path(folder, "set.jsonl")
            with tasks.open("w") as out:
                for i, (sizes, text) in enumerate((s, t) for s, texts in MODULES.items() for t in texts):
                    print(json.dumps({"name": f"{i:06d}_view", "code": MODULE.format(text, sizes), "split": "train",
                                      "level": "1", "ops": [], "data_source": "composed", "kinds": ["view"]}), file=out)
            subprocess.run([CUDA_AGENT, "corpus", str(tasks), "--device", "cpu", "--per-task", "1", "--broken", "0",
                            "--jobs", "2", "--out", folder + "/out"], check=True, capture_output=True,
                           env={**os.environ, "CUDA_AGENT_PYTHON": sys.executable})
            with gzip.open(folder + "/out/corpus.jsonl.gz", "rt") as lines:
                return [json.loads(line)["segments"][0]["text"] for line in lines]

    def check(self, line, values, orders, lines):
        """Computes a line's operator and, where it has a map, compares all elements. Returns the operator then."""
        line, _, text = line.partition("; ")
        name = line.split(" = ")[0]
        lines[name] = line
        values[name] = computed(line, values)
        if not text:
            return None
        result = values[name][0] if isinstance(values[name], (tuple, list)) else values[name]
        left, right = text.split(" = ", 1)
        letters = re.search(r"\[([^\]]*)\]$", left.replace("[0][", "["))
        letters = letters[1].split(", ") if letters else []
        self.assertEqual(len(letters), result.dim(), text)
        tensors = {n: v for n, v in values.items() if isinstance(v, torch.Tensor)}
        for at in itertools.product(*(range(size) for size in result.shape)):
            places = {letter: i for letter, i in zip(letters, at) if letter != "0"}
            self.assertAlmostEqual(told(right, tensors, orders, places, lines), result[at].item(), 4, f"{line}; {text} at {at}")
        return op[1] if (op := re.search(r"aten\.(\w+)", line)) else "getitem"

    def check_output(self, output, prompt, values, orders, lines):
        """Compares all elements of an output in memory, "out0 at [a, b] = mul[b, a]"."""
        name, letters, right = output.groups()
        order, value = re.search(rf"^{name}: output [^,]*\[[^\]]*\], order \[([^\]]*)\].* = (\w+)$", prompt, re.M).groups()
        result = values[value].permute([int(d) for d in order.split(", ")])
        for at in itertools.product(*(range(size) for size in result.shape)):
            places = {letter: i for letter, i in zip(letters.split(", "), at) if letter != "0"}
            self.assertAlmostEqual(told(right, values, orders, places, lines), result[at].item(), 4, f"{output[0]} at {at}")

    def test_maps_name_the_elements_that_operators_take(self):
        torch.manual_seed(1)
        seen, outputs = set(), 0
        prompts = self.prompts()
        self.assertEqual(len(prompts), sum(map(len, MODULES.values())))
        for prompt in prompts:
            values, lines = {}, {}
            for name, sizes in re.findall(r"^(\w+): input f32\[([^\]]*)\]", prompt, re.M):
                values[name] = torch.randn([int(size) for size in sizes.split(", ")])
            for name, sizes in re.findall(r"^(\w+): (?:parameter|constant) \S+ i64\[([^\]]*)\]", prompt, re.M):
                values[name] = torch.randint(0, 2, [int(size) for size in sizes.split(", ")])
            orders = {name: [int(d) for d in order.split(", ")]
                      for name, order in re.findall(r"^(\w+): input [^,]*\[[^\]]*\], order \[([^\]]*)\]", prompt, re.M)}
            for line in prompt.split("Operators:\n")[1].split("<|im_end|>")[0].split("\n"):
                if output := re.match(r"(out\d+) at \[([^\]]*)\] = (.*)", line):
                    self.check_output(output, prompt, values, orders, lines)
                    outputs += 1
                else:
                    seen.add(self.check(line, values, orders, lines))
        self.assertGreater(outputs, 10)
        self.assertEqual(seen - {None}, MAPPED)


if __name__ == "__main__":
    unittest.main()
