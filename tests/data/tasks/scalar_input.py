# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
import torch
from torch import nn

rows = 4


class Model(nn.Module):
    def forward(self, x, factor, power, clip):
        y = x**power * factor
        return y if clip is None else y.clamp(max=clip)


def get_inputs():
    return [torch.rand(rows, 6), 2.5, 3, float("inf")]


def get_init_inputs():
    return []
