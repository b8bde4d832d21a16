# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Upsampling, and rearrangements between channels and pixels."""

from maker.operators.build import operator, ranked, row
from maker.spec import ANY, Step

UPSAMPLING = "upsampling"
MODES = {3: ("nearest", "linear", "nearest-exact", "area"),
         4: ("nearest", "bilinear", "bilinear", "bicubic", "nearest-exact", "area"),
         5: ("nearest", "trilinear", "nearest-exact")}
F = "torch.nn.functional."


def resize(draw, value, module):
    """Arguments, and the domain of the result; None where the result would be too large."""
    mode, scale = draw.choice(MODES[value.rank]), draw.choice((2, 2, 2, 3, 4, 0.5, 1.5))
    corners, fixed = draw.choice(("", ", align_corners=False", ", align_corners=True")), \
        draw.chance(0.25)
    if module and mode == "area":
        mode = "nearest"
    sides = [int(side * scale) for side in value.shape[2:]]
    if row(value) * scale ** (value.rank - 2) > 16e6 or min(sides) < 2:
        return None
    size = f"size={tuple(sides)}" if fixed else f"scale_factor={scale}"
    if "linear" not in mode and mode != "bicubic":
        corners = ""
    return f"{size}, mode='{mode}'{corners}", ANY if mode == "bicubic" else value.domain


def interpolate(draw, value):
    drawn = resize(draw, value, False)
    return drawn and Step(f"F.interpolate({{x}}, {drawn[0]})", domain=drawn[1])


def upsample(draw, value):
    drawn = resize(draw, value, True)
    return drawn and Step("{m}({x})", f"nn.Upsample({drawn[0]})", domain=drawn[1],
                          name="upsample")


def fixed(name):
    def write(draw, value):
        scale = draw.choice((2, 2, 3, 4))
        if row(value) * scale * scale > 16e6 or min(value.shape[2:]) < 2:
            return None
        return Step("{m}({x})", f"nn.{name}(scale_factor={scale})", domain=value.domain,
                    name="upsample")

    return write


def shuffle(text, module, down):
    def write(draw, value):
        fitting = [factor for factor in (2, 3, 4) if (
            all(side % factor == 0 for side in value.shape[2:]) if down else
            value.shape[1] % (factor * factor) == 0)]
        if not fitting or row(value) < 64:
            return None
        factor = draw.choice(fitting)
        if module:
            return Step("{m}({x})", f"{text}({factor})", domain=value.domain, name="shuffle")
        return Step(f"{text}({{x}}, {factor})", domain=value.domain)

    return write


def channel_shuffle(text, module):
    def write(draw, value):
        fitting = [groups for groups in (2, 3, 4, 8) if value.shape[1] % groups == 0 and
                   value.shape[1] > groups]
        if not fitting:
            return None
        groups = draw.choice(fitting)
        if module:
            return Step("{m}({x})", f"{text}({groups})", domain=value.domain, name="shuffle")
        return Step(f"{text}({{x}}, {groups})", domain=value.domain)

    return write


def divisible(draw):
    """Channels and sides that most factors divide."""
    channels, side = draw.choice((36, 48, 64, 144, 256)), draw.choice((12, 24, 36, 48, 72))
    return (channels, side, side if draw.chance(0.5) else side * 2)


def low_images(draw):
    channels, side = draw.size(3, 256), draw.size(8, 64)
    return (channels, side, side)


def low_signals(draw):
    return (draw.size(4, 256), draw.size(64, 4096))


def low_volumes(draw):
    side = draw.size(6, 24)
    return (draw.size(2, 32), side, side, side)


def operators():
    rows = ranked(low_images, low_images, low_signals, low_volumes)
    # The derivative of interpolation is summed by atomics on cuda.
    yield operator(F + "interpolate", "interpolation", UPSAMPLING, interpolate, rows, ranks=(3, 5),
                   weight=3, differentiable=False)
    yield operator("torch.nn.Upsample", "interpolation", UPSAMPLING, upsample, rows, ranks=(3, 5),
                   weight=3, differentiable=False)
    for name, kind in (("UpsamplingNearest2d", "nearest upsampling"),
                       ("UpsamplingBilinear2d", "bilinear upsampling")):
        yield operator(f"torch.nn.{name}", kind, UPSAMPLING, fixed(name), low_images, ranks=(4, 4),
                       weight=0.7, differentiable=False)
    for name, module, down in (("pixel_shuffle", "PixelShuffle", False),
                               ("pixel_unshuffle", "PixelUnshuffle", True)):
        kind = name.replace("_", " ")
        yield operator(F + name, kind, "layout", shuffle(f"F.{name}", False, down), divisible,
                       ranks=(4, 4))
        yield operator(f"torch.nn.{module}", kind, "layout", shuffle(f"nn.{module}", True, down),
                       divisible, ranks=(4, 4))
    yield operator(F + "channel_shuffle", "channel shuffle", "layout",
                   channel_shuffle("F.channel_shuffle", False), divisible, ranks=(4, 4))
    yield operator("torch.nn.ChannelShuffle", "channel shuffle", "layout",
                   channel_shuffle("nn.ChannelShuffle", True), divisible, ranks=(4, 4))
