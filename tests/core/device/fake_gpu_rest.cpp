// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// The driver's functions that the fake GPU does not have: they are there, and refuse.

#include "core/device/cuda_driver.h"

extern "C" __attribute__((visibility("default"))) CUresult fakeGpuRefuses() {
    return CUDA_ERROR_NOT_SUPPORTED;
}

#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)
#define REFUSE(name) __asm__(".weak " TEXT(name) "\n.set " TEXT(name) ", fakeGpuRefuses\n")
CUDA_AGENT_DRIVER_FUNCTIONS(REFUSE);
