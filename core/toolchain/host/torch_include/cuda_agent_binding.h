// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Included before every binding of a module candidate that is compiled for the CPU device:
// PyTorch's headers, after which the words that name the GPU mean the CPU. The other files here
// stand in for CUDA's headers and for those of PyTorch that need them.

#include <torch/types.h>

#include <torch/csrc/utils/pybind.h>

#include "cuda_agent_binding_words.h"
