// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The whole of it is read with the words of the GPU as they are.

#ifdef is_cuda
#undef is_cuda
#undef kCUDA
#undef CUDA
#endif

#include_next <torch/all.h>

#define is_cuda is_cpu
#define kCUDA kCPU
#define CUDA CPU
