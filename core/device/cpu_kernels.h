// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/device/crew.h"
#include "core/device/device.h"

namespace cuda_agent::device {

// The judge's operations on host memory that others may write to at the same time: contents never
// decide where these functions read or write. Large jobs are spread over the crew; results do not
// depend on the number of threads.

/// `[to, to + bytes)` gets the word repeated; byte i is byte (phase + i) % 4 of it.
void fillBytes(Crew &crew, void *to, std::uint64_t bytes, std::uint32_t word, std::uint64_t phase);
/// Index of the first byte that differs from that fill, or none.
std::optional<std::uint64_t> firstChangedByte(Crew &crew, const void *from, std::uint64_t bytes,
                                              std::uint32_t word, std::uint64_t phase);
/// XXH3 of fixed chunks, seeded with the key, then of the list of chunk values.
std::uint64_t digestBytes(Crew &crew, const void *from, std::uint64_t bytes, std::uint64_t key);
void copyBytes(Crew &crew, void *to, const void *from, std::uint64_t bytes);

/// `layout` is that of the candidate in row-major order; the oracle is contiguous.
/// Both are aligned to their element size.
ErrorStats compareTensors(Crew &crew, const void *candidate, DType dtype, const Shape &shape,
                          const Shape &strides, const void *oracle);

} // namespace cuda_agent::device
