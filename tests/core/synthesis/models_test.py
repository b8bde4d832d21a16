# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Unit tests of the tasks made of transformers. By hand: <python with torch> models_test.py"""

import collections
import os
import pathlib
import re
import sys
import unittest
import warnings

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "core" / "synthesis"))
os.environ["TRANSFORMERS_VERBOSITY"] = "error"
os.environ["HF_HUB_OFFLINE"] = "1"  # nothing may be fetched

import torch  # noqa: E402

from maker import model_source, models  # noqa: E402
from maker.model_forms import NAMES  # noqa: E402
from maker.spec import Draw  # noqa: E402

HALVES = ("torch.float16", "torch.bfloat16")


def shrunk(task):
    code = task.code
    for name, text in task.small.items():
        code, count = re.subn(rf"^{name} = .*$", f"{name} = {text}", code, flags=re.M)
        assert count == 1, name
    return code


def run(code):
    """(model, inputs) of a task's text of our own making. Memory that nobody writes is NaN."""
    namespace = {"__name__": "task"}
    torch.manual_seed(0)
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        exec(compile(code, "task.py", "exec"), namespace)
        model = namespace["Model"](*namespace["get_init_inputs"]())
        return model, namespace["get_inputs"]()
    finally:
        torch.use_deterministic_algorithms(False)


def tensors(outputs):
    return [outputs] if isinstance(outputs, torch.Tensor) else list(outputs)


def distance(left, right):
    return max(((one - other).double().norm() / one.double().norm()).item()
               for one, other in zip(left, right))


class Crawl(unittest.TestCase):
    def test_all_are_decided_with_a_reason(self):
        rows = models.crawl_transformers()
        self.assertGreater(len(rows), 700)
        for row in rows:
            self.assertEqual(row["source"], "transformers")
            self.assertEqual(row["kept"], row["reason"] == "", row)
            self.assertNotIn("undecided", row["reason"], row)
        names = collections.Counter((row["family"], row["name"]) for row in rows)
        self.assertEqual(names.most_common(1)[0][1], 1)

    def test_it_is_all_that_transformers_defines(self):
        import importlib

        for family in ("llama", "bart", "swin", "bit", "mixtral", "wav2vec2"):
            module = importlib.import_module(f"transformers.models.{family}.modeling_{family}")
            defined = {name for name, value in vars(module).items()
                       if isinstance(value, type) and issubclass(value, torch.nn.Module)
                       and value.__module__ == module.__name__}
            self.assertEqual(set(model_source.classes(family)), defined)

    def test_what_is_the_same_is_kept_once(self):
        reasons = {row["name"]: row["reason"] for row in models.crawl_transformers()}
        self.assertEqual(reasons["transformers.MistralRMSNorm"], "the same as LlamaRMSNorm of llama")
        self.assertEqual(reasons["transformers.GemmaRMSNorm"], "")
        kept = [entry.found.source for entry in models.families()]
        self.assertEqual(len(kept), len(set(kept)))

    def test_many_families_and_kinds(self):
        entries = models.families()
        self.assertGreaterEqual(len({entry.family for entry in entries}), 35)
        self.assertGreater(len(entries), 200)
        kinds = {entry.kind for entry in entries}
        self.assertLessEqual({"attention", "mlp", "normalisation", "rotary embedding", "routing",
                              "mixture of experts", "convolution block", "patch embedding",
                              "pooler", "layer", "state space"}, kinds)

    def test_a_class_of_no_known_kind_is_undecided(self):
        family = models.FAMILIES[0]
        strange = model_source.Class("LlamaOracle", ("nn.Module",), False, (), (), True, False, "",
                                     (), False, frozenset())
        block, reason = models.decide(family, strange)
        self.assertIsNone(block)
        self.assertIn("undecided", reason)


class Tasks(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore")
        torch.set_num_threads(1)
        torch.set_grad_enabled(False)

    def test_the_batch_is_one_literal(self):
        for entry in models.families():
            one, other = entry.write(Draw(5), 7), entry.write(Draw(5), 7001)
            self.assertEqual(one.code.replace("batch_size = 7\n", "batch_size = 7001\n"),
                             other.code)
            self.assertEqual(one.code.count("\nbatch_size = 7\n"), 1)
            self.assertEqual(one.ops, [entry.name])

    def test_constants_are_used_and_settable(self):
        for entry in models.families():
            task = entry.write(Draw(2), 4)
            head, _, body = task.code.partition("\n\n\n")
            constants = re.findall(r"^(\w+) = ", head, flags=re.M)
            used = set(NAMES.findall(re.sub(r"^\w+ = ", "", head, flags=re.M) + "\n" + body))
            self.assertLessEqual(set(constants), used, entry.name)
            self.assertLessEqual(set(task.small), set(constants), entry.name)
            shrunk(task)

    def test_draws_differ(self):
        entry = next(entry for entry in models.families() if entry.name.endswith("LlamaAttention"))
        texts = {entry.write(Draw(seed), 4).code for seed in range(40)}
        self.assertGreater(len(texts), 35)
        dtypes = {entry.write(Draw(seed), 4).dtype for seed in range(40)}
        self.assertEqual(dtypes, {"float32", "float16", "bfloat16"})
        notes = " ".join(entry.write(Draw(seed), 4).note for seed in range(40))
        for word in ("sdpa", "eager", "causal mask", "padding mask"):
            self.assertIn(word, notes)

    def test_every_class_runs_as_drawn(self):
        for entry in models.families():
            for seed in (11, 12):
                task = entry.write(Draw(seed), 1)
                with self.subTest(entry.name, seed=seed, dtype=task.dtype):
                    model, inputs = run(shrunk(task))
                    self.assertFalse(model.training)
                    outputs = model(*inputs)
                    self.assertIsInstance(outputs, (torch.Tensor, tuple))
                    again = tensors(model(*inputs))
                    for one, other in zip(tensors(outputs), again):
                        self.assertTrue(one.is_floating_point())
                        self.assertTrue(torch.equal(one, other))  # NaN is unequal to itself
                        self.assertTrue(torch.isfinite(one).all())
                        self.assertGreater(one.float().std(), 1e-3)
                    floats = {value.dtype for value in (*inputs, *model.parameters())
                              if value.is_floating_point()}
                    self.assertLessEqual(floats, {getattr(torch, task.dtype)})

    def test_every_input_and_parameter_counts(self):
        for entry in models.families():
            code = shrunk(entry.write(Draw(3), 1))
            for half in HALVES:
                code = code.replace(half, "torch.float32")
            with self.subTest(entry.name):
                model, inputs = run(code)
                right = tensors(model(*inputs))
                for place, value in enumerate(inputs):
                    changed = value + 0.3 * torch.randn_like(value) if value.is_floating_point() \
                        else value.flip(-1)
                    outputs = model(*inputs[:place], changed, *inputs[place + 1:])
                    self.assertGreater(distance(right, tensors(outputs)), 1e-4, f"input {place}")
                state = [*model.named_parameters(), *((name, buffer) for name, buffer
                         in model.named_buffers() if buffer.is_floating_point()
                         and buffer.isfinite().all())]
                for name, parameter in state:
                    before = parameter.data.clone()
                    parameter.data += 2 * parameter.abs().mean() * torch.rand_like(parameter)
                    outputs = tensors(model(*inputs))
                    parameter.data.copy_(before)
                    self.assertGreater(distance(right, outputs), 3e-6, name)

    def test_as_large_as_drawn_without_memory(self):
        """On meta tensors, at the sizes of a GPU and of a host."""
        for entry in models.families():
            for seed, host in ((1, False), (2, True), (3, False), (4, False)):
                task = entry.write(Draw(seed), 16, host)
                with self.subTest(entry.name, seed=seed), torch.device("meta"):
                    namespace = {"__name__": "task"}
                    exec(compile(task.code, "task.py", "exec"), namespace)
                    model = namespace["Model"]()
                    for output in tensors(model(*namespace["get_inputs"]())):
                        self.assertGreater(output.numel(), 15)
                    held = sum(value.numel() for value in model.parameters())
                    self.assertLess(held, 1e8 if not host else 3.5e7)


if __name__ == "__main__":
    unittest.main()
