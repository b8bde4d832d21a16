# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
import torch
from torch import nn

tokens, words, width = 24, 20, 8


class Model(nn.Module):
    """The gradient of a table: rows that are looked up more than once add up."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(words, width, padding_idx=0)

    def forward(self, grad, ids):
        with torch.enable_grad():
            table = self.table.weight.detach().requires_grad_()
            y = torch.relu(nn.functional.embedding(ids, table, padding_idx=0))
            return torch.autograd.grad(y, [table], grad)[0]


def get_inputs():
    return [torch.randn(2, tokens, width), torch.randint(0, words, (2, tokens))]


def get_init_inputs():
    return []
