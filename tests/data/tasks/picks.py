# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
import torch
from torch import nn

rows, columns, picked = 6, 20, 8


class Model(nn.Module):
    """Rows, columns and single elements at positions that are given."""

    def forward(self, x, at, each):
        columns = torch.index_select(x, 1, at)
        turned = torch.roll(x, 3, 1)[:, :picked]
        return torch.relu(columns) + x.gather(1, each) * turned


def get_inputs():
    return [torch.randn(rows, columns), torch.randint(0, columns, (picked,)),
            torch.randint(0, columns, (rows, picked))]


def get_init_inputs():
    return []
