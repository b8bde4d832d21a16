# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tasks of the modules that models of transformers are built from.

families() are the classes that tasks are made of, crawl_transformers() all that were found. A task
imports a class and its configuration, builds it from sizes that were drawn, with random weights,
and needs no download. Neither torch nor transformers is imported here: what a class takes is read
from its source, so that proposing is fast and the same everywhere.
"""

import functools
import re
import textwrap
from dataclasses import dataclass

from maker import image_families, model_families
from maker.model_forms import (BUFFERS, FORWARD, INIT, INPUTS, INTEGER_INPUTS, KINDS, LEFT, ROTARY,
                               WANTED, Block, Constant, Family, names_in, sizes)
from maker.model_source import Class, classes

# Sizes that only some classes of a family ask for, and other names for what these ask for.
OWN_SIZES = {"intermediate_size", "vocabulary_size", "image_size", "patch_size", "num_experts",
             "expert_size", "experts_per_token", "window_size", "channels", "out_channels"}
SYNONYMS = {"n_inner": "intermediate_size", "num_experts": "num_local_experts",
            "n_routed_experts": "num_local_experts", "hidden_sizes": "num_stages"}
# Kinds that may hold an attention, whose implementation is fixed in the configuration.
ATTENDING = ("attention", "layer", "stage", "pooler")

FAMILIES = model_families.TEXT_FAMILIES + image_families.IMAGE_FAMILIES


@dataclass(frozen=True)
class ModelTask:
    """A task of one module. `small`: {constant: text} that makes it small and leaves it the same
    otherwise. `note` says what was drawn besides sizes."""

    code: str
    ops: list
    dtype: str
    note: str
    small: dict


@dataclass(frozen=True)
class Entry:
    name: str    # "transformers.LlamaMLP"
    family: str  # "llama"
    kind: str    # "mlp", "attention", "normalisation", ...
    described: Family
    block: Block
    found: Class

    def write(self, draw, batch, host=False):
        """A ModelTask. The same draws for every batch: only the literal of batch_size differs.
        `host`: sizes for a device of a few cores."""
        return Text(self, draw, host).task(batch)


@functools.lru_cache(maxsize=None)
def surveyed():
    """(family, Class, Block or None, reason) of every module of all families."""
    rows = []
    first = {}
    for family in FAMILIES:
        for found in classes(family.name).values():
            block, reason = decide(family, found)
            if block is not None:
                same = first.setdefault(found.source, (found.name, family.name))
                if same != (found.name, family.name):
                    block, reason = None, f"the same as {same[0]} of {same[1]}"
            rows.append((family, found, block, reason))
    return tuple(rows)


@functools.lru_cache(maxsize=None)
def families():
    """Entries of all classes that tasks are made of, in a fixed order."""
    return tuple(Entry("transformers." + found.name, family.name, block.kind, family, block, found)
                 for family, found, block, _ in surveyed() if block is not None)


def crawl_transformers():
    """All subclasses of torch.nn.Module in the modelling files of the families, for crawl.json."""
    return [{"name": f"transformers.{found.name}", "source": "transformers", "family": family.name,
             "kept": block is not None, "reason": reason}
            for family, found, block, reason in surveyed()]


def decide(family, found):
    """(Block, "") of a class that tasks are made of, else (None, reason)."""
    if found.whole:
        return None, "a whole model or head, not a block"
    left = (family.left or {}).get(found.name)
    if left:
        return None, left
    given = (family.blocks or {}).get(found.name)
    for pattern, reason in LEFT:
        if given is None and re.search(pattern, found.name):
            return None, reason
    if not found.has_forward:
        return None, "abstract" if found.bases == ("nn.Module",) else f"{found.bases[0]} as it is"
    kind = given.kind if given else kind_of(found.name)
    if kind == "rotary embedding" and given is None:
        return None, "a table of positions; its use is in the attention"
    if kind is None:
        return None, "undecided: of no known kind"
    make = given.make if given else None
    call = given.call if given else None
    if make is None:
        make = arguments(found.init, {**INIT, **(family.init or {})}, ())
    if call is None:
        masked = family.masks or (family.forward or {}).get("attention_mask")
        wanted = [name for name in WANTED if name != "attention_mask" or masked]
        call = arguments(found.forward, {**FORWARD, **(family.forward or {})}, wanted)
    if make is None or call is None:
        return None, "undecided: takes what no other does"
    result = given.result if given else None
    if result is None:
        result = "[0]" if found.returns_tuple else ""
    given = given or Block(kind)
    return Block(kind, make, call, result, given.after, given.config, given.dtypes), ""


def kind_of(name):
    return next((kind for pattern, kind in KINDS if re.search(pattern, name)), None)


def arguments(parameters, known, wanted):
    """The text of a call, or None where a required parameter is not known."""
    parts = []
    for parameter in parameters:
        if not parameter.required and parameter.name not in wanted and \
                parameter.name not in ("layer_idx",):
            continue
        if parameter.name not in known:
            return None
        value = known[parameter.name]
        if not parameter.required and "=" not in value:
            value = f"{parameter.name}={value}"
        parts.append(value)
    return ", ".join(parts)


class Text:
    """The text of one task."""

    def __init__(self, entry, draw, host):
        self.entry = entry
        self.family = entry.described
        block = self.block = entry.block
        self.constants = sizes(draw, host)
        if self.family.short:  # a token of experts holds a copy of their weights
            drawn = int(self.constants["sequence_length"].text)
            self.constants["sequence_length"] = Constant(str(16 + drawn % 48), "6")
        self.dtype = draw.choice(block.dtypes)
        attention = draw.choice(("sdpa", "eager"))
        self.attention = attention if attention in self.family.attention else "eager"
        mask = draw.choice(("", "causal", "padding"))
        self.options = {name: draw.choice(texts)
                        for name, texts in (self.family.options or {}).items()}
        self.call = block.call.replace("{mask}", self.masked(mask)) + "," if block.call else ""
        self.call = self.call.rstrip(",")
        self.inputs = [name for name in ordered(self.call) if name in INPUTS]

    def masked(self, mask):
        """The text of the attention mask. Attention that is not fused knows of no order of time
        unless the mask says so."""
        if mask == "padding" and self.family.masks:
            return "mask"
        if self.family.masks == "causal" and (mask == "causal" or self.attention == "eager"):
            return "self.causal"
        return "None"

    def task(self, batch):
        body = self.body()
        constants = self.declared(body)
        lines = [f"batch_size = {batch}"]
        small = {"batch_size": "2"}
        for name, constant in constants.items():
            lines.append(f"{name} = {constant.text}")
            if constant.small is not None:
                small[name] = constant.small
        code = "\n".join(self.imports(body) + [""] + lines) + "\n\n\n" + body
        note = ", ".join(part for part in (
            self.entry.kind, self.attention if "attn_implementation" in body else "",
            "causal mask" if "self.causal" in self.call else
            "padding mask" if "mask" in self.inputs else "") if part)
        return ModelTask(code, [self.entry.name], self.dtype, note, small)

    def imports(self, body):
        used = {name for name in names_in(body) if name in classes(self.family.name)}
        if "apply_rotary_pos_emb" in body:
            used.add("apply_rotary_pos_emb")
        lines = ["import torch", "import torch.nn as nn"]
        if "config = " in body:
            lines.append(f"from transformers import {self.configured().partition('(')[0]}")
        module = f"transformers.models.{self.family.name}.modeling_{self.family.name}"
        lines.append(f"from {module} import {', '.join(sorted(used))}")
        return lines

    def declared(self, body):
        """The constants that the body names, and those that these are made of."""
        used = names_in(re.sub(r"\b\w+=(?!=)", "", body))  # without keywords of calls
        if "hidden_size" in used and not used & {"num_heads", "head_dim"} and \
                "config = " not in body:  # configurations want heads that fit
            plain = self.constants["plain_hidden_size"]
            if self.block.kind not in ("normalisation", "activation"):  # weights grow by its square
                plain = Constant(str(min(2048, int(plain.text))), plain.small)
            self.constants["hidden_size"] = plain
        needed = [name for name in self.constants if name in used]
        for name in needed:
            needed += [other for other in names_in(self.constants[name].text)
                       if other in self.constants and other not in needed]
        return {name: constant for name, constant in self.constants.items() if name in needed}

    def body(self):
        lines = ["class Model(nn.Module):", "    def __init__(self):", "        super().__init__()"]
        lines += indented(self.construction(), 8)
        lines += ["", f"    def forward(self, {', '.join(self.forward_names())}):"]
        lines += indented(self.forward(), 8)
        lines += ["", "", "def get_inputs():", "    return ["]
        lines += [f"        {self.drawn(name)}," for name in self.inputs]
        lines += ["    ]", "", "", "def get_init_inputs():", "    return []", ""]
        return "\n".join(lines)

    def construction(self):
        block, name = self.block, self.entry.found.name
        rotary = "self.cos" in self.call
        lines = []
        if rotary or "config" in names_in(block.make):
            lines += self.configuration()
        if rotary:
            lines += ROTARY.format(self.rotary(), self.family.rotary).split("\n")
        lines.append(f"self.block = {name}({block.make})")
        if block.after:
            lines += block.after.split("\n")
        lines += [line for buffer, line in BUFFERS.items()
                  if buffer in names_in(self.call.replace("self.", ""))
                  and f"self.{buffer}" in self.call]
        if block.kind == "rotary embedding":
            return lines + [BUFFERS["positions"], "self.eval()"]
        lines += self.weights()
        return lines + [f"self.to(torch.{self.dtype})", "self.eval()"]

    def configuration(self):
        maker, _, rest = self.configured().partition("(")
        parts = [part for part in split(rest[:-1]) if part]
        parts += [f"{name}={text}" for name, text in self.options.items()]
        parts = [part for part in parts if self.matters(part)]
        if self.family.attention and self.block.kind in ATTENDING:
            parts.append(f'attn_implementation="{self.attention}"')
        if len(", ".join(parts)) < 60:
            return [f"config = {maker}({', '.join(parts)})"]
        inner = textwrap.wrap(", ".join(parts), 84, break_long_words=False)
        return [f"config = {maker}("] + ["    " + line for line in inner] + [")"]

    def matters(self, part):
        """Whether the class reads a keyword of its configuration. Those of hidden sizes and heads
        stay: configurations want them to fit each other."""
        name, _, value = part.partition("=")
        if name not in self.options and not names_in(value) & OWN_SIZES:
            return True
        reads = self.entry.found.reads
        return name in reads or SYNONYMS.get(name) in reads

    def configured(self):
        if "(" in self.block.config:
            return self.block.config
        more = ", " + self.block.config if self.block.config else ""
        return self.family.config[:-1] + more + ")"

    def rotary(self):
        return next(name for name in classes(self.family.name) if name.endswith("RotaryEmbedding"))

    def weights(self):
        """Weights of which every one matters: those that start as zeros, as ones or as memory that
        nobody wrote are drawn."""
        lines = []
        if self.family.key and self.block.kind in ("attention", "layer", "stage"):
            lines += ["for name, module in self.named_modules():",
                      f'    if name.endswith("{self.family.key}"):',
                      "        module.bias = None  # the same for all keys: softmax undoes it"]
        lines += ["for name, parameter in self.named_parameters():", "    if parameter.ndim == 1:",
                  "        parameter.data += 0.1 * torch.randn_like(parameter)"]
        if self.entry.found.raw and self.family.drawn:
            names = [f'"{name}"' for name in self.entry.found.raw]
            ends = names[0] if len(names) == 1 else f"({', '.join(names)})"
            lines += [f"    elif name.endswith({ends}):",
                      "        parameter.data.normal_(std=parameter.shape[-1] ** -0.5)"]
        if self.entry.found.batch_norm:
            lines += ["for name, buffer in self.named_buffers():",
                      '    if name.endswith("running_mean"):', "        buffer.normal_(std=0.1)",
                      '    if name.endswith("running_var"):', "        buffer.uniform_(0.5, 1.5)"]
        return lines

    def forward_names(self):
        return self.inputs

    def forward(self):
        if self.block.kind == "rotary embedding":
            return [f"cos, sin = self.block(query, self.positions{self.family.rotary})",
                    "return apply_rotary_pos_emb(query, key, cos, sin)"]
        return [f"return self.block({self.call}){self.block.result}"]

    def drawn(self, name):
        text = INPUTS[name]
        if name in INTEGER_INPUTS or self.dtype == "float32":
            return text
        if text.startswith("torch.randn(") and text.endswith(")"):
            return f"{text[:-1]}, dtype=torch.{self.dtype})"
        return f"{text}.to(torch.{self.dtype})"


def ordered(text):
    found = []
    for name in re.findall(r"(?<![\w.])[A-Za-z_]\w*(?!\w*\s*=)", text):
        if name not in found:
            found.append(name)
    return found


def split(text):
    """Arguments of a call, by the commas outside of brackets."""
    parts, depth, current = [], 0, ""
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            parts.append(current.strip())
            current = ""
        else:
            current += character
    return parts + [current.strip()]


def indented(lines, width):
    return [" " * width + line if line else "" for line in "\n".join(lines).split("\n")]
