# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A backward pass: Cross entropy, differentiated by the scores."""

import torch
import torch.nn as nn

rows = 256


class Model(nn.Module):

    def forward(self, x, t):
        with torch.enable_grad():
            x = x.detach().requires_grad_()
            loss = torch.nn.functional.cross_entropy(x, t)
            return torch.autograd.grad(loss, [x])[0]


def get_inputs():
    return [torch.randn(rows, 1000), torch.randint(1000, (rows,))]


def get_init_inputs():
    return []
