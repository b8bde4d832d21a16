# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x, mask):
        return torch.where(mask, x, float("-inf")).amax(dim=-1)


def get_inputs():
    return [torch.rand(4, 10).t(), torch.randint(0, 2, (1, 4)).bool().expand(10, 4)]


def get_init_inputs():
    return []
