# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later

# cmake -D PROGRAM=<file or nothing> -D HEADER=<file> -P embed.cmake
# The bytes of a program as a constant of a C++ header; none when there is no file.
set(bytes "")
if(PROGRAM AND EXISTS "${PROGRAM}")
  file(READ "${PROGRAM}" hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" bytes "${hex}")
  # Lines of a length that compilers take.
  string(REGEX REPLACE "(................................................................)" "\\1\"\n    \"" bytes "${bytes}")
endif()
file(WRITE "${HEADER}" "#pragma once\n#include <string_view>\ninline constexpr char entryBytes[] =\n    \"${bytes}\";\ninline constexpr std::string_view entryProgramBytes{entryBytes, sizeof entryBytes - 1};\n")
