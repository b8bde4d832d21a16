// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What of it device code can use is declared before the kernel file.

#ifdef CUDA_AGENT_HOST_OBJECT
// Host code gets the C library's, but for the functions that we have under the same names.
#define abs __cah_libc_abs
#define labs __cah_libc_labs
#define llabs __cah_libc_llabs
#pragma push_macro("_GLIBCXX_INCLUDE_NEXT_C_HEADERS")
#define _GLIBCXX_INCLUDE_NEXT_C_HEADERS
#include_next <stdlib.h>
#pragma pop_macro("_GLIBCXX_INCLUDE_NEXT_C_HEADERS")
#undef abs
#undef labs
#undef llabs
#endif
