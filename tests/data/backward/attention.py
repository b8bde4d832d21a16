# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A backward pass: Attention, differentiated by queries, keys and values."""

import torch
import torch.nn as nn

batch = 2


class Model(nn.Module):

    def forward(self, grad, q, k, v):
        with torch.enable_grad():
            q, k, v = (t.detach().requires_grad_() for t in (q, k, v))
            y = torch.softmax(q @ k.transpose(-1, -2) * 0.125, -1) @ v
            return torch.autograd.grad(y, [q, k, v], grad)


def get_inputs():
    return [torch.randn(batch, 4, 64, 64) for _ in range(4)]


def get_init_inputs():
    return []
