# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Padding of the last one to three dimensions."""

from maker.operators.build import images, operator, ranked, sequences, signals, volumes
from maker.spec import ANY, NON_NEGATIVE, Step, within

SHAPES = {1: signals, 2: images, 3: volumes}


def amounts(draw, value, dims, most=4):
    """Pads of both ends of the last dimensions, the last one first."""
    even, amount = draw.chance(0.35), draw.integer(1, most)
    each = [draw.integer(0, most) for _ in range(2 * dims)]
    return [amount] * (2 * dims) if even or not any(each) else each


def reachable(value, pads, mode):
    """Reflection needs more elements than it adds, circular padding as many."""
    spare = {"reflect": 1, "circular": 0}.get(mode)
    sides = [value.shape[-1 - i // 2] for i in range(len(pads))]
    return spare is None or all(pad + spare <= side for pad, side in zip(pads, sides))


def pad(draw, value):
    dims = draw.integer(1, min(3, value.rank - 1))
    mode = draw.weighted({"constant": 5, "circular": 1})
    pads, number = amounts(draw, value, dims, 8), draw.choice((0.0, 0.0, 1.0, -1.0))
    if mode == "constant":
        text = f", value={number}" if number else ""
        return Step(f"F.pad({{x}}, {tuple(pads)}{text})")
    # Reflection and replication are the modules' part: their derivatives are not deterministic.
    dims = value.rank - 2
    pads = (pads * 3)[:2 * dims]
    if not 1 <= dims <= 3 or not reachable(value, pads, mode):
        return None
    return Step(f"F.pad({{x}}, {tuple(pads)}, mode='{mode}')", domain=kept(value.domain))


def kept(domain):
    return NON_NEGATIVE if within(domain, NON_NEGATIVE) else ANY


def module(name, dims, mode):
    def write(draw, value):
        pads, number = amounts(draw, value, dims), draw.choice((0.5, 1.0, -2.0))
        if not reachable(value, pads, mode):
            return None
        text = str(pads[0]) if len(set(pads)) == 1 else str(tuple(pads))
        if name.startswith("Constant"):
            text += f", {number}"
        return Step("{m}({x})", f"nn.{name}({text})", name="pad",
                    domain=ANY if name.startswith("Constant") else kept(value.domain))

    return write


def operators():
    yield operator("torch.nn.functional.pad", "padding", "padding", pad,
                   ranked(sequences, signals, images, volumes), ranks=(2, 5), weight=4)
    for dims in (1, 2, 3):
        for start, mode in (("Constant", "constant"), ("Zero", "constant"),
                            ("Reflection", "reflect"), ("Replication", "replicate"),
                            ("Circular", "circular")):
            name = f"{start}Pad{dims}d"
            # Derivatives of pads that repeat elements are summed by atomics on cuda.
            yield operator(f"torch.nn.{name}", f"{start.lower()} padding {dims}d", "padding",
                           module(name, dims, mode), SHAPES[dims], ranks=(dims + 2, dims + 2),
                           differentiable=mode in ("constant", "circular"))
