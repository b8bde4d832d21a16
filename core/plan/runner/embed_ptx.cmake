# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later

# cmake -D PTX=<file or nothing> -D HEADER=<file> -P embed_ptx.cmake
# PTX text as a constant of a C++ header; an empty text when there is no file.
set(text "")
if(PTX AND EXISTS "${PTX}")
  file(READ "${PTX}" text)
endif()
file(WRITE "${HEADER}" "#pragma once\ninline constexpr char cudaHelperPtx[] = R\"ptx(${text})ptx\";\n")
