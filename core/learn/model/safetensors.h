// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.h"

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <map>
#include <string>

namespace cuda_agent::learn {

/// Tensors by name. On reading: on the CPU, contiguous.
using NamedTensors = std::map<std::string, at::Tensor>;

/// A safetensors file: eight bytes with the length of a JSON header, the header, raw little-endian
/// tensors (https://github.com/huggingface/safetensors, "Format").
struct Safetensors {
    NamedTensors tensors;
    std::map<std::string, std::string> metadata; ///< "__metadata__" of the header
};

/// The tensors read the file as they are used, by a private mapping that ends with the last of
/// them: the file may be replaced meanwhile, but not written over. Errors: request: no such file,
/// or not of that form; a hostile one reads nothing beyond itself.
Result<Safetensors> readSafetensors(const std::filesystem::path &file);
/// Written beside, synced and renamed. Any device, any strides. Errors: machine.
Result<void> writeSafetensors(const std::filesystem::path &file, const Safetensors &content);

} // namespace cuda_agent::learn
