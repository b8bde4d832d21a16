// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// CUDA's runtime interface for a binding: the launchers' own, and vector types.

#include <cstddef>
#include <cstdint>
#include <cstring>

#define CAH_FUNCTION static inline __attribute__((always_inline, unused))

#include "abi.h"

#include "cuda_agent_types.h"

#include "cuda_agent_runtime.h"
