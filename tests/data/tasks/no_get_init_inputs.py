# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
import torch


class Model(torch.nn.Module):
    pass


def get_inputs():
    return [torch.rand(4)]
