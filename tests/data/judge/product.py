# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A small task that operations limit, not memory: y = x w."""
import torch
import torch.nn as nn

rows = 256


class Model(nn.Module):
    def forward(self, x, w):
        return x @ w


def get_inputs():
    return [torch.randn(rows, 512), torch.randn(512, 512)]


def get_init_inputs():
    return []
