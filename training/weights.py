#!/usr/bin/env python3
# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes a policy's weights deeper, or smaller on disk: Hugging Face folders of the Qwen3 family in, the same out.

  grow      copies of layers go behind their originals, evenly spread, with output projections of zero: the same
            function at first, which then learns more.
  convert   bfloat16 halves what training writes; int8 quarters it: layers' matrices as integers with a scale for each
            row, in the form of compressed-tensors ("int-quantized", strategy "channel"), which this program reads, and
            transformers where that package is there. Embeddings and norms stay bfloat16.

The output folder must not exist. Exit codes: 0 written, 2 unusable request.
"""

import argparse
import json
import re
import shutil
import sys
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

LAYER = re.compile(r"model\.layers\.(\d+)\.(.*)")
OUTPUTS = ("self_attn.o_proj.weight", "mlp.down_proj.weight")


def originals(layers: int, wanted: int) -> list[int]:
    """Of each layer of the deeper model the one that it is, or is a copy of, in order.

    >>> originals(4, 6)
    [0, 0, 1, 2, 2, 3]
    """
    return [i * layers // wanted for i in range(wanted)]


def grow(tensors: dict, config: dict, wanted: int) -> dict:
    """The tensors of the deeper model, which `config` then describes. ValueError: a depth that cannot be."""
    layers = config["num_hidden_layers"]
    if not layers < wanted <= 8 * layers:
        raise ValueError(f"--layers must be more than the {layers} that there are, and {8 * layers} at most")
    result = {name: tensor for name, tensor in tensors.items() if not LAYER.fullmatch(name)}
    before = None
    for place, origin in enumerate(originals(layers, wanted)):
        for name, tensor in tensors.items():
            match = LAYER.fullmatch(name)
            if match and int(match[1]) == origin:
                copied = origin == before and match[2] in OUTPUTS
                result[f"model.layers.{place}.{match[2]}"] = torch.zeros_like(tensor) if copied else tensor.clone()
        before = origin
    config["num_hidden_layers"] = wanted
    return result


def quantised(weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """int8 [rows, columns], and the scale of each row, float32 [rows, 1]: weight is about their product."""
    scale = weight.float().abs().amax(dim=1, keepdim=True).clamp(min=1e-12) / 127
    return torch.round(weight.float() / scale).to(torch.int8), scale


def convert(tensors: dict, config: dict, kind: str) -> dict:
    """The same weights as `kind`, which `config` then tells of."""
    result = {}
    for name, tensor in tensors.items():
        if kind == "int8" and LAYER.fullmatch(name) and tensor.dim() == 2:
            result[name], result[name + "_scale"] = quantised(tensor)
        else:
            result[name] = tensor.to(torch.bfloat16)
    config["dtype"] = "bfloat16"
    if kind == "int8":
        weights = {"num_bits": 8, "type": "int", "symmetric": True, "strategy": "channel", "dynamic": False}
        config["quantization_config"] = {
            "quant_method": "compressed-tensors",
            "format": "int-quantized",
            "quantization_status": "compressed",
            "config_groups": {"group_0": {"targets": ["Linear"], "weights": weights}},
            "ignore": ["lm_head"],
        }
    return result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    deeper = commands.add_parser("grow", help="more layers, the same function")
    deeper.add_argument("--layers", type=int, required=True, help="of the deeper model")
    smaller = commands.add_parser("convert", help="another type on disk")
    smaller.add_argument("--type", choices=["bfloat16", "int8"], required=True)
    for command in (deeper, smaller):
        command.add_argument("source", type=Path, metavar="IN", help="folder with config.json and model.safetensors")
        command.add_argument("out", type=Path, metavar="OUT", help="folder to make")
    arguments = parser.parse_args()
    if arguments.out.exists():
        parser.error(f"{arguments.out} is there already")
    try:
        config = json.loads((arguments.source / "config.json").read_text())
        tensors = load_file(arguments.source / "model.safetensors")
    except (OSError, ValueError, SafetensorError) as error:
        parser.error(f"{arguments.source} is no folder of weights: {error}")
    if "quantization_config" in config:
        parser.error(f"{arguments.source} has been quantised; begin with what it was made of")
    if arguments.command == "grow":
        try:
            tensors = grow(tensors, config, arguments.layers)
        except ValueError as error:
            parser.error(str(error))
    else:
        tensors = convert(tensors, config, arguments.type)
    arguments.out.mkdir(parents=True)
    save_file(tensors, arguments.out / "model.safetensors", metadata={"format": "pt"})
    (arguments.out / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    if (arguments.source / "tokenizer.json").exists():
        shutil.copy(arguments.source / "tokenizer.json", arguments.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
