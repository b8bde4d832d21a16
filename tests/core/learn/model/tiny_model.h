// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/model/config.h"

namespace cuda_agent::learn {

/// Sizes that a test computes with in no time.
inline ModelConfig tinyConfig() {
    ModelConfig config;
    config.vocabulary = 50;
    config.hidden = 16;
    config.layers = 2;
    config.heads = 4;
    config.kvHeads = 2;
    config.headSize = 8;
    config.inner = 24;
    config.positions = 32;
    return config;
}

} // namespace cuda_agent::learn
