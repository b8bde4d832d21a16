# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
import torch
from torch import nn

batch, channels, side = 2, 3, 4


class Model(nn.Module):
    """Resizing of volumes and of rows: exact neighbours, and weighted sums of 8 and of 2."""

    def forward(self, x, row):
        resize = nn.functional.interpolate
        exact = resize(x, scale_factor=2.0, mode="nearest-exact") + resize(x.tanh(), size=8, mode="nearest")
        odd = resize(resize(exact, size=(5, 7, 9), mode="nearest-exact"), size=8, mode="trilinear")
        outer = resize(row, size=8, mode="linear", align_corners=True) * resize(row, scale_factor=2, mode="linear")
        return torch.relu(exact - odd) + outer[:, :, None, None]


def get_inputs():
    return [torch.randn(batch, channels, side, side, side), torch.randn(batch, channels, side)]


def get_init_inputs():
    return []
