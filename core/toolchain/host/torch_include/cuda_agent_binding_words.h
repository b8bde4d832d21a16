// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Headers of PyTorch that are included later take these words away and put them back.
#define is_cuda is_cpu
#define kCUDA kCPU
#define CUDA CPU // DeviceType::CUDA, TORCH_LIBRARY_IMPL(name, CUDA, m)
