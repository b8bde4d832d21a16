# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
import torch
from torch import nn

batch, channels, side = 2, 3, 6


class Model(nn.Module):
    """Bilinear resizing in both conventions of what a corner is."""

    def forward(self, x):
        resize = nn.functional.interpolate
        inner = resize(x, scale_factor=2.0, mode="bilinear", align_corners=False)
        outer = resize(torch.tanh(x), size=(12, 12), mode="bilinear", align_corners=True)
        return torch.relu(inner) + outer


def get_inputs():
    return [torch.randn(batch, channels, side, side)]


def get_init_inputs():
    return []
