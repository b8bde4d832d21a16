# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Attention and transformer layers. All drop nothing, and the batch comes first."""

from maker.operators.build import like, operator
from maker.spec import ANY, BOOLEAN, Extra, Step

HEAD = (16, 32, 64, 64, 64, 80, 96, 128)


def heads(draw):
    length = draw.size(64, 1024)
    return (draw.choice((4, 8, 12, 16, 32)), length, draw.choice(HEAD))


def single(draw):
    return (draw.size(64, 1024), draw.choice((32, 64, 128)))


def model_width(draw):
    length = draw.size(32, 512)
    return (length, draw.choice((128, 256, 384, 512, 768, 1024)))


def narrow_width(draw):
    return (draw.size(32, 512), draw.choice((128, 192, 256, 384, 512)))


def head_count(draw, width):
    """Heads of a width that divide a model's width."""
    fitting = [count for count in (1, 2, 4, 6, 8, 12, 16) if width % count == 0 and
               width // count >= 8]
    return draw.choice(fitting or [1])


def scaled_dot_product(draw, value):
    length, own = draw.size(32, 1024), draw.chance(0.5)
    form = draw.weighted({"plain": 4, "causal": 3, "bias": 1, "mask": 1})
    scale, grouped = draw.choice(("", "", ", scale=0.1")), draw.chance(0.2)
    if not 8 <= value.shape[-1] <= 256 or not 2 <= value.shape[-2] <= 8192:
        return None
    keys = value.shape[-2] if own or form == "causal" else length
    shape = [*value.shape[:-2], keys, value.shape[-1]]
    grouping = ""
    if grouped and value.rank == 4 and value.shape[1] % 4 == 0:
        shape[1], grouping = shape[1] // 4, ", enable_gqa=True"
    extras = [like(value, "key", ANY, shape), like(value, "value", ANY, shape)]
    behind = ""
    if form == "causal":
        behind = ", is_causal=True"
    elif form == "bias":
        extras.append(like(value, "bias", ANY, (value.shape[-2], keys)))
        behind = ", attn_mask={bias}"
    elif form == "mask":
        extras.append(Extra("mask", (value.shape[-2], keys), "bool", BOOLEAN))
        behind = ", attn_mask={mask}"
    return Step("F.scaled_dot_product_attention({x}, {key}, {value}" + behind + scale + grouping +
                ")", None, tuple(extras))


def multihead(draw, value):
    width = value.shape[-1]
    count, bias, other = head_count(draw, width), draw.chance(0.7), draw.chance(0.4)
    length, weights = draw.size(16, 512), draw.chance(0.2)
    if not 16 <= width <= 2048 or not 2 <= value.shape[1] <= 4096:
        return None
    text = f"nn.MultiheadAttention({width}, {count}, {'' if bias else 'bias=False, '}" \
        "batch_first=True)"
    extras = (like(value, "memory", ANY, (value.shape[0], length, width)),) if other else ()
    inside = "{memory}, {memory}" if other else "{x}, {x}"
    need = "" if weights else ", need_weights=False"
    return Step(f"{{m}}({{x}}, {inside}{need})[0]", text, extras, name="attention")


def layer(name, memory):
    def write(draw, value):
        width = value.shape[-1]
        count, feed = head_count(draw, width), draw.choice((2, 4)) * width
        activation, first = draw.choice(("", ", activation='gelu'")), draw.chance(0.5)
        length = draw.size(16, 256)
        if not 16 <= width <= 1024 or not 2 <= value.shape[1] <= 2048:
            return None
        text = f"nn.{name}({width}, {count}, dim_feedforward={feed}, dropout=0.0{activation}, " \
            f"batch_first=True{', norm_first=True' if first else ''})"
        if not memory:
            return Step("{m}({x})", text, name="layer")
        return Step("{m}({x}, {memory})", text,
                    (like(value, "memory", ANY, (value.shape[0], length, width)),), name="layer")

    return write


def encoder(draw, value):
    width, layers = value.shape[-1], draw.integer(2, 3)
    count, feed = head_count(draw, width), 2 * width
    if not 16 <= width <= 512 or not 2 <= value.shape[1] <= 1024:
        return None
    return Step("{m}({x})", f"nn.TransformerEncoder(nn.TransformerEncoderLayer({width}, {count}, "
                f"dim_feedforward={feed}, dropout=0.0, batch_first=True), num_layers={layers}, "
                "enable_nested_tensor=False)", name="encoder")


def decoder(draw, value):
    width, layers, length = value.shape[-1], draw.integer(1, 2), draw.size(16, 256)
    count, feed = head_count(draw, width), 2 * width
    if not 16 <= width <= 512 or not 2 <= value.shape[1] <= 1024:
        return None
    return Step("{m}({x}, {memory})", f"nn.TransformerDecoder(nn.TransformerDecoderLayer({width}, "
                f"{count}, dim_feedforward={feed}, dropout=0.0, batch_first=True), "
                f"num_layers={layers})",
                (like(value, "memory", ANY, (value.shape[0], length, width)),), name="decoder")


def transformer(draw, value):
    width, length = value.shape[-1], draw.size(16, 256)
    count = head_count(draw, width)
    if not 16 <= width <= 512 or not 2 <= value.shape[1] <= 1024:
        return None
    return Step("{m}({x}, {target})", f"nn.Transformer({width}, {count}, num_encoder_layers=1, "
                f"num_decoder_layers=1, dim_feedforward={2 * width}, dropout=0.0, "
                "batch_first=True)",
                (like(value, "target", ANY, (value.shape[0], length, width)),),
                name="transformer")


def operators():
    yield operator("torch.nn.functional.scaled_dot_product_attention",
                   "scaled dot product attention", "attention", scaled_dot_product,
                   lambda draw: heads(draw) if draw.chance(0.85) else single(draw), ranks=(3, 4),
                   weight=5)
    yield operator("torch.nn.MultiheadAttention", "multi-head attention", "attention", multihead,
                   model_width, ranks=(3, 3), weight=3)
    yield operator("torch.nn.TransformerEncoderLayer", "transformer encoder layer", "attention",
                   layer("TransformerEncoderLayer", False), model_width, ranks=(3, 3), weight=2)
    yield operator("torch.nn.TransformerDecoderLayer", "transformer decoder layer", "attention",
                   layer("TransformerDecoderLayer", True), model_width, ranks=(3, 3), weight=1.5)
    yield operator("torch.nn.TransformerEncoder", "transformer encoder", "attention", encoder,
                   narrow_width, ranks=(3, 3))
    yield operator("torch.nn.TransformerDecoder", "transformer decoder", "attention", decoder,
                   narrow_width, ranks=(3, 3))
    yield operator("torch.nn.Transformer", "transformer", "attention", transformer, narrow_width,
                   ranks=(3, 3))
