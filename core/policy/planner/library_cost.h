// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/policy/planner/ir.h"

namespace cuda_agent::policy {

// What steps of a plan that a library computes are expected to cost, by measurements on an H100 and
// an H200.

/// Whether a step may round its operands to TF32.
bool roundsProducts(const LibraryStep &step);
bool isConvolution(const LibraryStep &step);
/// Convolutions over three dimensions of space for which cuDNN has no fast kernels: of few
/// channels, in groups, of more taps than 3 along each dimension, or transposed with no step
/// between places. 4 to 40 TFLOP/s on an H100, where the others reach 85 to 150.
bool slowInTheLibrary(const Program &program, const LibraryStep &step);
/// Bytes that a step reads and writes.
double bytesOf(const Program &program, const LibraryStep &step);
/// Seconds of a product or convolution, without its launch. `bytesPerSecond`: of the memory.
double librarySeconds(const Program &program, const LibraryStep &step, bool cpu,
                      double bytesPerSecond);

} // namespace cuda_agent::policy
