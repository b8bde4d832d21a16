# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds everything public of PyTorch that could be an operator, and says what becomes of each."""

import types
import typing

import torch

from maker.crawl_reasons import NO_TENSOR, SPELLED, reason_for
from maker.names import DUNDER, canonical_name
from maker.operators.catalogue import all_operators

UNDECIDED = "undecided"
FUNCTIONS = (("torch.", torch), ("torch.nn.functional.", torch.nn.functional),
             ("torch.linalg.", torch.linalg), ("torch.fft.", torch.fft),
             ("torch.special.", torch.special))


def is_function(member):
    return callable(member) and not isinstance(member, (type, types.ModuleType,
                                                        typing._SpecialForm))


def found():
    """(name, object) of the modules of torch.nn, the functions of torch, torch.nn.functional,
    torch.linalg, torch.fft and torch.special, and the methods of tensors, each once."""
    for name in sorted(vars(torch.nn)):
        member = getattr(torch.nn, name)
        if isinstance(member, type) and issubclass(member, torch.nn.Module):
            yield "torch.nn." + name, member
    for start, module in FUNCTIONS:
        for name in sorted(dir(module)):
            if not name.startswith("_") and is_function(getattr(module, name)):
                yield start + name, getattr(module, name)
    for name in sorted(dir(torch.Tensor)):
        spelled = name.startswith("__") and (name[2:-2] in DUNDER or name == "__getitem__")
        if (spelled or not name.startswith("_")) and is_function(getattr(torch.Tensor, name)):
            yield "torch.Tensor." + name, getattr(torch.Tensor, name)


def decide(name, member, names):
    """The reason against a name, UNDECIDED where there is none."""
    reason = reason_for(name)
    if reason is not None:
        return reason
    if isinstance(member, type):
        return UNDECIDED
    canonical = canonical_name(member)
    if canonical is None:
        return NO_TENSOR
    if canonical != name and canonical in names:
        return SPELLED.format(canonical)
    return UNDECIDED


def crawl_torch():
    """[{"name", "source": "torch", "family", "kept", "reason"}], in a fixed order. `family` is that
    of the catalogue, empty for what is not kept; `reason` is empty for what is."""
    families = {operator.name: operator.family for operator in all_operators()}
    members = dict(found())
    return [{"name": name, "source": "torch", "family": families.get(name, ""),
             "kept": name in families,
             "reason": "" if name in families else decide(name, member, members)}
            for name, member in members.items()]
