# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A backward pass: Linear and ReLU, differentiated by the input, weight and bias."""

import torch
import torch.nn as nn

rows = 256


class Model(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.lin = nn.Linear(n, m)

    def forward(self, grad, x):
        with torch.enable_grad():
            w = self.lin.weight.detach().requires_grad_()
            b = self.lin.bias.detach().requires_grad_()
            x = x.detach().requires_grad_()
            y = torch.relu(torch.nn.functional.linear(x, w, b))
            return torch.autograd.grad(y, [x, w, b], grad)


def get_inputs():
    return [torch.randn(rows, 128), torch.randn(rows, 256)]


def get_init_inputs():
    return [256, 128]
