# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
import torch
from torch import nn

tokens, words, width = 24, 50, 16


class Model(nn.Module):
    """A table looked up by whole numbers, then scaled as in a language model."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(words, width)

    def forward(self, ids):
        return nn.functional.gelu(self.table(ids) * width**0.5)


def get_inputs():
    return [torch.randint(0, words, (2, tokens))]


def get_init_inputs():
    return []
