# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A small task for the judge's own tests: y = 2 x + 1."""
import torch
import torch.nn as nn

rows = 64
columns = 1000


class Model(nn.Module):
    def forward(self, x):
        return 2 * x + 1


def get_inputs():
    return [torch.randn(rows, columns)]


def get_init_inputs():
    return []
