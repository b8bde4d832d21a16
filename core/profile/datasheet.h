// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string_view>

namespace cuda_agent::profile {

/// What the vendor states for a card, at boost clock; dense matrices (a sheet's figure "with
/// sparsity" is halved). 0: not stated, or no such unit. Bytes and operations a second.
struct Datasheet {
    std::string_view card; ///< how the driver's name of it begins
    double bytesPerSecond = 0;
    double fp32 = 0;
    double tf32Tensor = 0;
    double halfTensor = 0; ///< fp16 and bf16, added up in fp32
};

/// By the driver's name ("NVIDIA H200"); the longest entry that the name begins with.
/// Source: NVIDIA's data sheets of the cards; architecture white papers for GeForce.
std::optional<Datasheet> datasheetOf(std::string_view name);

} // namespace cuda_agent::profile
