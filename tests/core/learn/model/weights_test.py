# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""training/weights.py, by what our Transformer makes of its folders: usage weights_test.py TOOL"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import torch
from safetensors.torch import load_file, save_file

TOOL = sys.argv.pop()
WEIGHTS = pathlib.Path(__file__).parents[4] / "training/weights.py"
CONFIG = {"model_type": "qwen3", "vocab_size": 90, "hidden_size": 48, "intermediate_size": 64, "num_hidden_layers": 3,
          "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "max_position_embeddings": 64,
          "tie_word_embeddings": True, "initializer_range": 0.3, "eos_token_id": 3}


def run(*words):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=120)


class WeightsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "config.json").write_text(json.dumps(CONFIG))
        drawn = run(TOOL, "draw", self.folder / "config.json", 3, self.folder / "begun")
        self.assertEqual(drawn.returncode, 0, drawn.stderr)

    def weights(self, *words):
        return run(sys.executable, "-B", WEIGHTS, *words)

    def made(self, *words):
        done = self.weights(*words, self.folder / "begun", self.folder / "made")
        self.assertEqual(done.returncode, 0, done.stderr)
        return load_file(self.folder / "made/model.safetensors")

    def logits(self, name):
        torch.manual_seed(1)
        tokens, out = self.folder / "tokens.safetensors", self.folder / "out.safetensors"
        save_file({"tokens": torch.randint(0, 90, (2, 50))}, tokens)
        done = run(TOOL, "logits", self.folder / name, tokens, out)
        self.assertEqual(done.returncode, 0, done.stderr)
        return load_file(out)["logits"]

    def test_a_deeper_model_is_the_same_function(self):
        before = load_file(self.folder / "begun/model.safetensors")
        after = self.made("grow", "--layers", 5)
        self.assertEqual(json.loads((self.folder / "made/config.json").read_text())["num_hidden_layers"], 5)
        self.assertTrue(torch.equal(self.logits("begun"), self.logits("made")))
        for place, origin, copied in ((0, 0, False), (1, 0, True), (2, 1, False), (3, 1, True), (4, 2, False)):
            name = "model.layers.{}.mlp.up_proj.weight"
            self.assertTrue(torch.equal(after[name.format(place)], before[name.format(origin)]))
            zero = not after[f"model.layers.{place}.self_attn.o_proj.weight"].any().item()
            self.assertEqual(zero, copied, place)

    def test_integers_stand_for_what_is_near(self):
        before = load_file(self.folder / "begun/model.safetensors")
        after = self.made("convert", "--type", "int8")
        near = {}
        for name, tensor in before.items():
            if "_proj" in name:
                self.assertEqual(after[name].dtype, torch.int8)
                scale = after[name + "_scale"]
                near[name] = after[name].float() * scale
                self.assertTrue(((near[name] - tensor).abs() <= 0.51 * scale).all())
                self.assertEqual(after[name].abs().amax(dim=1).min().item(), 127)
            else:
                near[name] = after[name].float()
                self.assertEqual(after[name].dtype, torch.bfloat16)
        (self.folder / "near").mkdir()
        save_file(near, self.folder / "near/model.safetensors")
        (self.folder / "near/config.json").write_text(json.dumps(CONFIG))
        self.assertTrue(torch.equal(self.logits("made"), self.logits("near")))
        self.assertLess((self.logits("made") - self.logits("begun")).abs().max().item(),
                        0.1 * self.logits("begun").abs().max().item())
        how = json.loads((self.folder / "made/config.json").read_text())["quantization_config"]
        self.assertEqual((how["quant_method"], how["format"]), ("compressed-tensors", "int-quantized"))

    def test_bfloat16_is_half(self):
        for name, tensor in self.made("convert", "--type", "bfloat16").items():
            self.assertEqual(tensor.dtype, torch.bfloat16, name)

    def test_what_cannot_be_says_why_and_writes_nothing(self):
        self.made("convert", "--type", "int8")
        begun, made, other = (self.folder / name for name in ("begun", "made", "other"))
        for words, why in ((("grow", "--layers", 3, begun, other), "more than the 3"),
                           (("grow", "--layers", 6, begun, made), "there already"),
                           (("convert", "--type", "bfloat16", made, other), "has been quantised"),
                           (("grow", "--layers", 6, self.folder / "none", other), "no folder of weights")):
            done = self.weights(*words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(why, done.stderr)
            self.assertFalse(other.exists())


if __name__ == "__main__":
    unittest.main()
