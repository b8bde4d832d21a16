# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A backward pass: Convolution and ReLU, differentiated by the input."""

import torch
import torch.nn as nn

batch = 4


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(8, 16, 3, padding=1)

    def forward(self, grad, x):
        with torch.enable_grad():
            x = x.detach().requires_grad_()
            y = torch.relu(self.conv(x))
            return torch.autograd.grad(y, [x], grad)[0]


def get_inputs():
    return [torch.randn(batch, 16, 24, 24), torch.randn(batch, 8, 24, 24)]


def get_init_inputs():
    return []
