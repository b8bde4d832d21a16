# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a block of a model is built and called: texts that tasks of transformers are made of.

Texts are Python over the constants of `sizes`; a task declares those constants, inputs and buffers
that its text names. Knows neither torch nor transformers.
"""

import re
from dataclasses import dataclass
from typing import Optional


@dataclass(frozen=True)
class Block:
    """One class: arguments of its constructor and of its forward(), as text. None: found by the
    names of the parameters. `result` picks tensors out of what forward() returns ("[0]"), None:
    "[0]" where it returns a tuple. `after` are lines of __init__ behind it, `config` further
    arguments of the configuration, or the whole of another one. `dtypes`: element types a task may
    have."""

    kind: str
    make: Optional[str] = None
    call: Optional[str] = None
    result: Optional[str] = None
    after: str = ""
    config: str = ""
    dtypes: tuple = ("float32", "float16", "bfloat16")


@dataclass(frozen=True)
class Family:
    """A folder of transformers.models. `config` is the call that makes its configuration. `key`
    ends the names of linear layers whose bias adds the same to all scores of a row, which softmax
    undoes. `masks`: "causal" or "padding" attention, or "" where none is passed. `options` are
    keywords of the configuration with the texts that are drawn from, `attention` the
    implementations there are. `drawn`: parameters that its constructors leave as zeros or as they
    are get values in the task. `short`: sequences are, for what is stored by token."""

    name: str
    config: str
    masks: str = ""
    key: str = ""
    rotary: str = ""
    init: dict = None
    forward: dict = None
    blocks: dict = None
    left: dict = None
    options: dict = None
    attention: tuple = ("sdpa", "eager")
    drawn: bool = True
    short: bool = False


# Classes by the ends of their names, first match first: (pattern, kind), or a reason to leave them.
LEFT = (
    (r"DropPath", "identity outside of training"),
    (r"(Encoder|Decoder|Transformer|EncoderStableLayerNorm|LayerGroup)$",
     "a stack of layers; the layer is there"),
    (r"(Head|Heads|HeadTransform|Predictions|Summary|SequenceSummary|OnlyMLMHead|DecodeHead"
     r"|Projector|Classifier|ClassificationHead|DeepLabV3|DeepLabV3Plus|UperHead|FCNHead)$",
     "a whole model or head, not a block"),
    (r"FlashAttention", "needs flash_attn"),
    (r"(WordEmbedding|PositionalEmbedding|LearnedPositionalEmbedding)$",
     "a lookup in a table: torch.nn.Embedding"),
)
KINDS = (
    (r"Rotary", "rotary embedding"),
    (r"(ConvLayer|ConvNormLayer|ConvLayer2d)$", "convolution block"),
    (r"(RMSNorm|LayerNorm|Norm|GRN|PerHead)$", "normalisation"),
    (r"(SparseMoeBlock|MoE|Moe|SparseMLP)$", "mixture of experts"),
    (r"Experts$", "experts"),
    (r"(Router|TopKGate|Gate)$", "routing"),
    (r"(MLP|FFN|FeedForward|DenseActDense|DenseGatedActDense|Intermediate|LayerFF)$", "mlp"),
    (r"(SelfOutput|Output)$", "residual"),
    (r"(CrossAttention|Attention)$", "attention"),
    (r"(PatchEmbeddings?|Embeddings)$", "embedding"),
    (r"Pooler$", "pooler"),
    (r"(Layer|Block|Blocks)$", "layer"),
    (r"Stage$", "stage"),
)

INIT = {
    "config": "config", "layer_idx": "layer_idx=0", "layer_index": "0", "layer_id": "layer_id=1",
    "hidden_size": "hidden_size", "dim": "hidden_size", "input_dim": "hidden_size",
    "normalized_shape": "hidden_size", "embed_dim": "hidden_size", "num_heads": "num_heads",
    "num_attention_heads": "num_heads", "intermediate_size": "intermediate_size",
    "in_channels": "channels", "in_channel": "channels", "out_channels": "out_channels",
    "kernel_size": "kernel_size", "stride": "stride", "depth": "2",
}
FORWARD = {
    "hidden_states": "hidden_states", "x": "hidden_states", "hidden_state": "hidden_states",
    "input": "hidden_states", "features": "hidden_states", "residual": "residual",
    "input_tensor": "residual", "residual_states": "residual",
    "position_embeddings": "(self.cos, self.sin)",
    "attention_mask": "{mask}", "encoder_hidden_states": "memory", "key_value_states": "memory",
    "pixel_values": "pixel_values", "input_ids": "input_ids", "top_k_index": "top_k_index",
    "top_k_weights": "top_k_weights", "position_bias": "position_bias", "alibi": "alibi",
    "height": "height", "width": "width",
}
# Optional parameters of forward() that are passed all the same.
WANTED = ("position_embeddings", "attention_mask")

TEXT = "(batch_size, sequence_length, hidden_size)"
INPUTS = {
    "hidden_states": f"torch.randn{TEXT}",
    "residual": f"torch.randn{TEXT}",
    "memory": "torch.randn(batch_size, memory_length, hidden_size)",
    "mask": "torch.where(torch.rand(batch_size, 1, 1, sequence_length) < 0.8, 0.0, -100.0)",
    "pixel_values": "torch.randn(batch_size, 3, image_size, image_size)",
    "input_ids": "torch.randint(0, vocabulary_size, (batch_size, sequence_length))",
    "wide": "torch.randn(batch_size, sequence_length, intermediate_size)",
    "maps": "torch.randn(batch_size, channels, height, width)",
    "hidden_maps": "torch.randn(batch_size, hidden_size, height, width)",
    "nhwc": "torch.randn(batch_size, height, width, channels)",
    "tokens": "torch.randn(batch_size, height * width, channels)",
    "places": "torch.randn(batch_size, height * width, hidden_size)",
    "waves": "torch.randn(batch_size, hidden_size, samples)",
    "windows": "torch.randn(batch_size, window_size * window_size, hidden_size)",
    "other_maps": "torch.randn(batch_size, channels, height, width)",
    "flat": "torch.randn(batch_size * sequence_length, hidden_size)",
    "top_k_index": "torch.rand(batch_size * sequence_length, num_experts)"
                   ".topk(experts_per_token).indices",
    "top_k_weights": "torch.rand(batch_size * sequence_length, experts_per_token).softmax(-1)",
    "query": "torch.randn(batch_size, num_heads, sequence_length, head_dim)",
    "key": "torch.randn(batch_size, num_key_value_heads, sequence_length, head_dim)",
    "alibi": "torch.randn(batch_size * num_heads, 1, sequence_length)",
    "position_bias": "torch.randn(num_heads, 1, sequence_length)",
    "heads": "torch.randn(batch_size, num_heads, sequence_length, head_dim)",
}
INTEGER_INPUTS = ("input_ids", "top_k_index")

CAUSAL = ('self.register_buffer("{0}", torch.full((sequence_length, sequence_length), '
          'float("-inf")).triu(1)[None, None])')
BUFFERS = {
    "causal": CAUSAL.format("causal"),
    "future": 'self.register_buffer("future", torch.ones(sequence_length, sequence_length, '
              'dtype=torch.bool).triu(1)[None, None])',
    "present": 'self.register_buffer("present", '
               '(torch.arange(sequence_length)[None] % 5 > 0).long())',
    "positions": 'self.register_buffer("positions", torch.arange(sequence_length)[None])',
    "everywhere": 'self.register_buffer("everywhere", torch.ones(1, 1, sequence_length, '
                  'sequence_length, dtype=torch.bool))',
}
ROTARY = ("cos, sin = {0}(config)(torch.zeros(1), torch.arange(sequence_length)[None]{1})\n"
          'self.register_buffer("cos", cos)\nself.register_buffer("sin", sin)')

# Sizes at which a task stays the same and is small.
SMALL = {"batch_size": 2, "sequence_length": 12, "memory_length": 7, "num_heads": 4, "head_dim": 16,
         "intermediate_size": 48, "vocabulary_size": 50, "num_experts": 8, "expert_size": 24,
         "patches": 3, "patch_size": 4, "channels": 32, "out_channels": 48, "height": 14,
         "width": 14, "samples": 160}


@dataclass(frozen=True)
class Constant:
    text: str
    small: Optional[str] = None  # of a literal: what makes the task small


def sizes(draw, host):
    """{name: Constant} in the order of their declarations. Draws the same number of times always.
    `host`: for a device of a few cores."""
    head_dim = draw.choice((32, 32, 64, 64) if host else (32, 64, 64, 80, 96, 128))
    heads = draw.choice((4, 6, 8) if host else (4, 6, 8, 12, 16, 20))
    groups = draw.choice([group for group in (1, 2, 4) if heads % group == 0])
    hidden = heads * head_dim
    factor = draw.choice((2, 2.5, 3, 3.5, 4))
    wide = draw.choice((28, 32, 48, 56) if host else (28, 32, 48, 56, 64, 96, 112))
    shorter = draw.choice((0.5, 0.75)) if draw.chance(0.3) else 1
    literals = {
        "sequence_length": draw.choice((32, 64, 65, 100, 128) if host else
                                       (64, 100, 128, 197, 256, 257, 384, 512, 577, 1024)),
        "memory_length": draw.choice((50, 77, 100) if host else (50, 77, 128, 256, 384, 512)),
        "num_heads": heads,
        "head_dim": head_dim,
        "intermediate_size": int(hidden * factor) // 16 * 16,
        "vocabulary_size": draw.choice((1000, 4096, 8192, 30522, 32000)),
        "num_experts": draw.choice((4, 8, 16)),
        "expert_size": draw.choice((64, 96, 128, 192)),
        "patches": draw.choice((6, 7, 8) if host else (7, 14, 16, 24)),
        "patch_size": draw.choice((8, 14, 16) if host else (8, 14, 16, 32)),
        "channels": draw.choice((16, 32, 64) if host else (32, 64, 96, 128, 192, 256)),
        "out_channels": draw.choice((32, 64, 96) if host else (32, 64, 96, 128, 192, 256, 384)),
        "height": wide,
        "width": max(14, int(wide * shorter) // 2 * 2),
        "samples": draw.choice((1600, 3001) if host else (1600, 4000, 8000, 16000)),
    }
    found = {name: Constant(str(value), str(SMALL[name])) for name, value in literals.items()}
    fixed = {
        "num_key_value_heads": f"num_heads // {groups}" if groups > 1 else "num_heads",
        "hidden_size": "num_heads * head_dim",
        "image_size": "patches * patch_size",
        "experts_per_token": str(draw.choice((2, 2, 4))),
        "kernel_size": str(draw.choice((3, 3, 5, 7))),
        "stride": str(draw.choice((1, 1, 2))),
        "window_size": str(draw.choice((7, 8))),
    }
    found.update({name: Constant(text) for name, text in fixed.items()})
    found["plain_hidden_size"] = Constant(
        str(draw.size(128, 1024) if host else draw.size(256, 8192)), "40")
    return found


NAMES = re.compile(r"[A-Za-z_]\w*")


def names_in(text):
    return set(NAMES.findall(text))
