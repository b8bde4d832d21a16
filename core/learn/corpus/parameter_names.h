// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/task/task.h"

#include <random>
#include <string>

namespace cuda_agent::learn {

/// A task and the module that it describes.
struct NamedTask {
    task::Description description;
    std::string source;
};

/// The task with other names for its parameters, as another author would have called them: tasks
/// that a generator made know a few dozen, "block.norm.weight", which a model learns by heart
/// instead of copying what its prompt says. Each part of a dotted key becomes one drawn name,
/// wherever it stands, but for numbers and what PyTorch's own modules call their tensors
/// ("weight", "bias", "running_mean"); where the module itself has the part, `self.norm`, its
/// source says the new name, too. The source of a library's module is not shown, and its parts are
/// renamed all the same: such a task cannot be run, only read. Nothing but names changes.
NamedTask withDrawnNames(NamedTask task, std::mt19937_64 &generator);

} // namespace cuda_agent::learn
