// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

/* Stands in for libcuda.so.1 to show what the loader says about drivers that cannot be used. */
#define EXPORT __attribute__((visibility("default")))
#include <stdlib.h>

static int number(const char *name) {
    const char *text = getenv(name);
    return text ? atoi(text) : 0;
}

EXPORT int cuInit(unsigned flags) {
    return flags == 0 ? number("FAKE_DRIVER_INIT") : 1;
}

EXPORT int cuDriverGetVersion(int *version) {
    *version = number("FAKE_DRIVER_VERSION");
    return 0;
}

EXPORT int cuGetErrorName(int code, const char **text) {
    *text = code == 999 ? "CUDA_ERROR_UNKNOWN" : "CUDA_ERROR_OTHER";
    return 0;
}

EXPORT int cuGetErrorString(int code, const char **text) {
    *text = code == 999 ? "unknown error" : "other error";
    return 0;
}
