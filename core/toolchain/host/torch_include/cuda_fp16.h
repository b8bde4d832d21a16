// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A binding only passes pointers on: `reinterpret_cast<const __half *>(x.data_ptr<at::Half>())`.

struct alignas(2) __half {
    unsigned short x;
};
struct alignas(4) __half2 {
    __half x, y;
};
typedef __half half;
typedef __half2 half2;
