# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later

# Records where Python with PyTorch and, without an installed one, the CUDA toolkit lie: one line
# each in share/cuda-agent/python.path and cuda.path, which core/base/paths.h reads. packaging/setup
# passes both; a plain `cmake --preset release` finds the environment that set-up made.
set(CUDA_AGENT_PYTHON
    "${PROJECT_SOURCE_DIR}/.venv/bin/python"
    CACHE FILEPATH "The Python that has torch")
set(CUDA_AGENT_CUDA
    ""
    CACHE PATH "CUDA toolkit assembled by set-up; empty where the machine has one")

# cuda_agent_record(<file> <path>): writes only on change; no file for an empty path.
function(cuda_agent_record file path)
  set(file ${CMAKE_BINARY_DIR}/share/cuda-agent/${file})
  if(path STREQUAL "")
    file(REMOVE ${file})
  else()
    file(CONFIGURE OUTPUT ${file} CONTENT "${path}\n" @ONLY)
  endif()
endfunction()

cuda_agent_record(python.path "${CUDA_AGENT_PYTHON}")
cuda_agent_record(cuda.path "${CUDA_AGENT_CUDA}")
