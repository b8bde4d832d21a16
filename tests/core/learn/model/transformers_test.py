# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Our Transformer against transformers' Qwen3ForCausalLM: usage transformers_test.py TOOL"""

import json
import os
import random
import subprocess
import sys
import tempfile
import unittest

os.environ["HF_HUB_OFFLINE"] = "1"

import torch
from safetensors.torch import load_file, save_file
from transformers import Qwen3Config, Qwen3ForCausalLM

TOOL = sys.argv.pop()
ALLOWED = 1e-4


def config(draw):
    heads = draw.choice([1, 2, 4, 6])
    return Qwen3Config(
        vocab_size=draw.randint(17, 300),
        hidden_size=draw.choice([24, 32, 64]),
        intermediate_size=draw.choice([40, 64, 96]),
        num_hidden_layers=draw.randint(1, 4),
        num_attention_heads=heads,
        num_key_value_heads=draw.choice([n for n in (1, 2, 3, heads) if heads % n == 0]),
        head_dim=draw.choice([8, 16, 32]),
        max_position_embeddings=128,
        rope_parameters={"rope_type": "default", "rope_theta": draw.choice([1e4, 1e6])},
        rms_norm_eps=draw.choice([1e-6, 1e-5]),
        tie_word_embeddings=draw.random() < 0.5,
        eos_token_id=3,
    )


def model_of(settings):
    model = Qwen3ForCausalLM(settings).float().eval()
    with torch.no_grad():  # norms that are not 1, and larger weights: logits of a trained model's size
        for name, value in model.named_parameters():
            value.copy_(torch.rand_like(value) + 0.5 if "norm" in name else torch.randn_like(value) / 5)
    return model


def run(*words):
    return subprocess.run([TOOL, *words], capture_output=True, text=True, timeout=120)


class TransformersTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        torch.manual_seed(7)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def ours(self, folder, tokens):
        save_file({"tokens": tokens}, self.path("tokens.safetensors"))
        done = run("logits", folder, self.path("tokens.safetensors"), self.path("out.safetensors"))
        self.assertEqual(done.returncode, 0, done.stderr)
        return load_file(self.path("out.safetensors"))["logits"]

    def test_logits(self):
        """Twelve random configurations, saved by transformers, in one file or in shards."""
        draw = random.Random(11)
        for case in range(12):
            settings = config(draw)
            model = model_of(settings)
            folder = self.path(f"model{case}")
            model.save_pretrained(folder, max_shard_size="20KB" if case % 3 == 0 else "5GB")
            tokens = torch.randint(0, settings.vocab_size, (2, draw.randint(1, 100)))
            with torch.no_grad():
                theirs = model(tokens).logits
            apart = (self.ours(folder, tokens) - theirs).abs().max().item()
            self.assertGreater(theirs.abs().max().item(), 0.1)
            self.assertLessEqual(apart, ALLOWED * max(1.0, theirs.abs().max().item()), settings)

    def test_theirs_loads_ours(self):
        settings = config(random.Random(5)).to_dict()
        with open(self.path("config.json"), "w", encoding="utf-8") as file:
            json.dump(settings, file)
        drawn = run("draw", self.path("config.json"), "3", self.path("ours"))
        self.assertEqual(drawn.returncode, 0, drawn.stderr)
        model, told = Qwen3ForCausalLM.from_pretrained(
            self.path("ours"), output_loading_info=True, dtype=torch.float32)
        for kind in ("missing_keys", "unexpected_keys", "mismatched_keys"):
            self.assertFalse(told[kind], kind)
        self.assertAlmostEqual(model.model.embed_tokens.weight.std().item(), 0.02, delta=0.004)
        tokens = torch.randint(0, settings["vocab_size"], (1, 40))
        with torch.no_grad():
            theirs = model.eval()(tokens).logits
        self.assertLessEqual((self.ours(self.path("ours"), tokens) - theirs).abs().max().item(), ALLOWED)

    def test_a_copy_is_the_same(self):
        model = model_of(config(random.Random(2)))
        model.save_pretrained(self.path("model"))
        self.assertEqual(run("copy", self.path("model"), self.path("copy")).returncode, 0)
        before = load_file(self.path("model/model.safetensors"))
        after = load_file(self.path("copy/model.safetensors"))
        self.assertEqual(before.keys(), after.keys())
        for name, tensor in before.items():
            self.assertTrue(torch.equal(tensor, after[name]), name)

    def test_other_models_are_refused(self):
        settings = config(random.Random(1))
        model_of(settings).save_pretrained(self.path("model"))
        for field, value in (("model_type", "llama"), ("attention_bias", True), ("hidden_act", "gelu"),
                             ("use_sliding_window", True), ("rope_parameters", {"rope_type": "yarn"}),
                             ("quantization_config", {"quant_method": "awq"}),
                             ("quantization_config", {"quant_method": 5}), ("model_type", 3),
                             ("rope_parameters", {"rope_type": [1]}), ("num_key_value_heads", 5),
                             ("hidden_size", "many"), ("head_dim", 7)):
            changed = settings.to_dict() | {field: value}
            with open(self.path("model/config.json"), "w", encoding="utf-8") as file:
                json.dump(changed, file)
            done = run("copy", self.path("model"), self.path("copy"))
            self.assertEqual(done.returncode, 2, field)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)


if __name__ == "__main__":
    unittest.main()
