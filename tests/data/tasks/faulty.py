# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A task with one fault, selected with --set fault=..."""
import os
import sys
import time

import torch
from torch import nn

fault = "none"
size = 4


class Model(nn.Module):
    def __init__(self):
        if fault == "init raises":
            raise RuntimeError("no weights")
        super().__init__()

    def forward(self, x):
        if fault == "forward raises":
            return x @ torch.rand(3, 3)
        if fault == "returns a number":
            return float(x.sum())
        if fault == "returns nothing":
            return None
        if fault == "returns an empty tuple":
            return ()
        if fault == "forward hangs":
            while True:
                time.sleep(0.1)
        if fault == "forward exits":
            sys.exit(0)
        if fault == "process exits":
            os._exit(0)
        if fault == "too much memory":
            return torch.ones(1 << 33, 1 << 3)
        if fault == "eats memory":
            kept = []
            while True:
                kept.append(torch.ones(1 << 26))
        if fault == "complex output":
            return torch.complex(x, x)
        if fault == "varying shape":
            return x[: 1 + int(x.sum() * 1000) % size]
        return x + 1


def get_inputs():
    if fault == "inputs raise":
        raise ValueError("no inputs today")
    if fault == "inputs are no list":
        return torch.rand(size)
    if fault == "no tensor":
        return [1, 2.0]
    if fault == "a dictionary":
        return [torch.rand(size), {"a": 1}]
    if fault == "complex input":
        return [torch.rand(size).to(torch.complex64)]
    return [torch.rand(size)]


def get_init_inputs():
    if fault == "init inputs are no list":
        return 3
    return []


if fault == "loading hangs":
    while True:
        pass
if fault == "loading exits":
    sys.exit(3)
