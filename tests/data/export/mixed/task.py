# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
import torch
from torch import nn

rows = 6
columns = 40


class Model(nn.Module):
    """A softmax at a temperature that is an argument, a product and a convolution of it."""

    def __init__(self, features: int, channels: int):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(columns, features))
        self.filter = nn.Conv1d(1, channels, 3, bias=False)

    def forward(self, x, scale, mask=None):
        share = torch.softmax(x * scale, dim=-1)
        product = nn.functional.linear(share, self.layers[0].weight)
        return self.layers(share), share, self.filter(share.unsqueeze(1)), 2.5 * product[..., None]


def get_inputs():
    return [torch.randn(rows, columns), 1.5, None]


def get_init_inputs():
    return [7, 2]
