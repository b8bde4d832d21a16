# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later

# The imported target cuda_agent_torch: LibTorch out of the PyTorch wheel of CUDA_AGENT_PYTHON. Its
# own CMake package is not used: that one looks for a CUDA compiler, which nothing here needs, and
# fails where it finds none. Only core/learn and app/learn link it.
execute_process(
  COMMAND
    "${CUDA_AGENT_PYTHON}" -c
    "import importlib.util as u, os; print(os.path.dirname(u.find_spec('torch').origin))"
  OUTPUT_VARIABLE CUDA_AGENT_TORCH
  OUTPUT_STRIP_TRAILING_WHITESPACE
  RESULT_VARIABLE torch_found
  ERROR_QUIET)
if(NOT torch_found EQUAL 0 OR NOT EXISTS "${CUDA_AGENT_TORCH}/lib/libtorch_cpu.so")
  message(FATAL_ERROR "PyTorch is missing in ${CUDA_AGENT_PYTHON}: run packaging/setup, "
                      "or set CUDA_AGENT_LEARN to OFF to build without the trainer")
endif()
get_filename_component(CUDA_AGENT_SITE "${CUDA_AGENT_TORCH}" DIRECTORY)

# The wheel carries an fmt of its own among its headers, another version than the one linked here:
# a folder that is searched before it leads to the right one.
get_target_property(fmt_include fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/include-fmt)
file(CREATE_LINK ${fmt_include}/fmt ${CMAKE_BINARY_DIR}/include-fmt/fmt SYMBOLIC)

add_library(cuda_agent_torch INTERFACE)
target_include_directories(cuda_agent_torch INTERFACE ${CMAKE_BINARY_DIR}/include-fmt)
target_include_directories(
  cuda_agent_torch SYSTEM
  INTERFACE ${CUDA_AGENT_TORCH}/include ${CUDA_AGENT_TORCH}/include/torch/csrc/api/include
            ${CUDA_AGENT_SITE}/nvidia/cu13/include ${CUDA_AGENT_SITE}/nvidia/nccl/include)
# The CUDA half registers its kernels when it is loaded; no symbol of it need be used.
target_link_options(cuda_agent_torch INTERFACE -Wl,--no-as-needed
                    -Wl,-rpath,${CUDA_AGENT_TORCH}/lib)
# The wheel's libraries export parts of an older libstdc++ that crash a program of this one
# (std::filesystem::remove_all in libtorch.so): the real one comes first.
target_link_libraries(cuda_agent_torch INTERFACE stdc++)
foreach(part IN ITEMS torch_cpu torch_cuda c10 c10_cuda)
  target_link_libraries(cuda_agent_torch INTERFACE ${CUDA_AGENT_TORCH}/lib/lib${part}.so)
endforeach()
# Its headers compare signed with unsigned numbers and shadow names in templates that are made here.
target_compile_options(cuda_agent_torch INTERFACE -Wno-sign-compare)

# cuda_agent_torch_room(<name> SOURCES ... DEPENDS <targets> ...)
# One folder of core/learn that includes LibTorch's headers, as a static library
# `cuda_agent_learn_<name>`. The lowest, `kernels`, has the precompiled header that all use: a
# file costs 4 s in place of 18.
function(cuda_agent_torch_room name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  set(target cuda_agent_learn_${name})
  add_library(${target} STATIC ${ARG_SOURCES})
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(${target} PUBLIC cuda_agent_base cuda_agent_torch ${ARG_DEPENDS})
  if(NOT name STREQUAL "kernels")
    target_precompile_headers(${target} REUSE_FROM cuda_agent_learn_kernels)
  endif()
endfunction()
