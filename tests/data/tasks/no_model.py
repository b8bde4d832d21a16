# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
import torch


def get_inputs():
    return [torch.rand(4)]


def get_init_inputs():
    return []
