// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/channel.h"
#include "core/reference/worker.h"

/// Reading what the worker sent. Task code runs in the worker, so shapes, element types, sizes and
/// descriptors are all checked before any of it is mapped. Errors: request (the task made its
/// worker lie), machine (the memory cannot be mapped). For the rooms that have such workers.
namespace cuda_agent::reference {

struct Received {
    std::vector<device::Memory> memory;
    std::vector<device::TensorView> tensors; ///< views into `memory`; survive moves of this object
    std::vector<std::string> names;
};

/// Imports the tensors of `message.body[key]`, a list of
/// {"name", "dtype", "shape", "strides", "fd", "offset", "bytes"}. Takes the descriptors it uses.
Result<Received> receiveTensors(Message &message, const char *key, device::Device &device);

/// A finite number that is not negative.
Result<double> receiveAmount(const Json &object, const char *key);

/// The fields of a ReferenceError in snake_case; "change_norm" and "change_max" may be absent.
Result<ReferenceError> receiveError(const Json &entry);

} // namespace cuda_agent::reference
