#!/usr/bin/env python3
# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The endpoint policy and the composer of tasks against a server of other people's making: `transformers
serve` with a two-layer Qwen3 of random weights, made on the spot. Shows that the protocol fits (streams,
token counts, a whole session, a wave of proposals); the model says nothing of sense, and that is what
session and synthesis say of it. Needs the network the first time, for pip.

usage: real_server.py --program build/release/bin/cuda-agent --torch .venv [--folder FOLDER]

--torch is a virtual environment that has torch; FOLDER (default: a temporary one) keeps the server's own
environment for the next time.
"""
import argparse
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

PACKAGES = ["transformers[serving]==5.23.0", "accelerate"]

MAKE_MODEL = """
import sys, torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

tokenizer = Tokenizer(models.BPE())
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
tokenizer.decoder = decoders.ByteLevel()
tokenizer.train_from_iterator(["write a kernel for the device"], trainers.BpeTrainer(
    vocab_size=400, special_tokens=["<|im_start|>", "<|im_end|>"],
    initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|im_end|>", pad_token="<|im_end|>")
fast.chat_template = ("{% for m in messages %}<|im_start|>{{m['role']}}\\n{{m['content']}}<|im_end|>\\n"
                      "{% endfor %}<|im_start|>assistant\\n")
torch.manual_seed(0)
model = Qwen3ForCausalLM(Qwen3Config(
    vocab_size=len(fast), hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
    num_key_value_heads=2, head_dim=16, max_position_embeddings=65536, eos_token_id=fast.eos_token_id,
    bos_token_id=None))
model.save_pretrained(sys.argv[1])
fast.save_pretrained(sys.argv[1])
"""

TASK = """
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x) * 2

def get_inputs():
    return [torch.randn(64, 500)]

def get_init_inputs():
    return []
"""

RECIPE = """
tasks = 1
[compose]
sources = { endpoint = 1 }
[endpoint]
attempts = 2
"""


def prepare(folder, torch):
    """The server's environment and model, made where they are missing."""
    python = folder / "venv" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
        site = next((folder / "venv" / "lib").glob("python3*")) / "site-packages"
        theirs = next((torch / "lib").glob("python3*")) / "site-packages"
        (site / "torch.pth").write_text(f"{theirs}\n")
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
    model = folder / "model"
    if not (model / "config.json").exists():
        subprocess.run([python, "-c", MAKE_MODEL, model], check=True)
    return python, model


def serve(python, log):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen([python.parent / "transformers", "serve", "--host", "127.0.0.1", "--port",
                               str(port)], stdout=log, stderr=log, env=dict(os.environ, HF_HUB_OFFLINE="1"))
    for _ in range(240):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2).read()
            return server, f"http://127.0.0.1:{port}/v1"
        except OSError:
            if server.poll() is not None:
                break
            time.sleep(0.5)
    server.kill()
    raise SystemExit(f"the server did not start; see {log.name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, type=pathlib.Path)
    parser.add_argument("--torch", required=True, type=pathlib.Path)
    parser.add_argument("--folder", type=pathlib.Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        scratch = pathlib.Path(temporary)
        folder = (arguments.folder or scratch).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        python, model = prepare(folder, arguments.torch.resolve())
        task = scratch / "relu_twice.py"
        task.write_text(TASK)
        config = scratch / "endpoint.toml"
        with open(folder / "server.log", "w", encoding="utf-8") as log:
            server, url = serve(python, log)
            try:
                config.write_text(f'base_url = "{url}"\nmodel = "{model}"\nanswer_tokens = 64\n'
                                  "context_tokens = 65536\n")
                call = lambda *words: subprocess.run([arguments.program, *map(str, words)], text=True,
                                                     capture_output=True, timeout=400)
                test = call("endpoint", "--endpoint-config", config, "--json")
                print(test.stdout or test.stderr)
                session = scratch / "session"
                run = call("optimize", task, "--device", "cpu", "--no-memory", "--policy", "endpoint", "--endpoint-config",
                           config, "--session", session)
                if not (session / "session.jsonl").exists():
                    raise SystemExit(f"no session: {run.stderr[-2000:]}")
                answers = [json.loads(line)["data"] for line in
                           (session / "session.jsonl").read_text().splitlines()[1:]
                           if '"modelAnswered"' in line]
                recipe = scratch / "recipe.toml"
                recipe.write_text(RECIPE)
                synthesis = call("synthesize", recipe, "--device", "cpu", "--propose-only", "--out",
                                 scratch / "synthesis", "--endpoint-config", config)
                proposed = [json.loads(line) for line in
                            (scratch / "synthesis" / "candidates.jsonl").read_text().splitlines()]
            finally:
                server.kill()
                server.wait()
        for answer in answers:
            print(json.dumps(answer))
        counted = bool(answers) and all(answer["prompt_tokens"] > 0 and "estimated" not in answer
                                        for answer in answers)
        refused = sum(candidate["rejected"] == "no task" for candidate in proposed)
        print(f"synthesis: {len(proposed)} asked for, {refused} without a task, exit {synthesis.returncode}")
        good = json.loads(test.stdout)["counts_tokens"] and counted and run.returncode == 1 and \
            "called no tool" in run.stdout and 0 < refused == len(proposed) and synthesis.returncode == 0
        print("the protocol fits" if good else f"it does not:\n{run.stdout[-2000:]}{run.stderr[-2000:]}"
              f"{synthesis.stdout[-2000:]}{synthesis.stderr[-2000:]}")
        return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
