// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The C library's, but for clock(), which device code has under the same name.

#define clock __cah_libc_clock
#include_next <time.h>
#undef clock
