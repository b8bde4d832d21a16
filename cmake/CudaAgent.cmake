# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later

# cuda_agent_room(<name> SOURCES ... [DEPENDS <rooms and libraries> ...])
# One folder under core/ as a static library `cuda_agent_<name>`. DEPENDS may name rooms below.
function(cuda_agent_room name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(cuda_agent_${name} STATIC ${ARG_SOURCES})
  target_include_directories(cuda_agent_${name} PUBLIC ${PROJECT_SOURCE_DIR})
  cuda_agent_link(cuda_agent_${name} PUBLIC ${ARG_DEPENDS})
  if(NOT name STREQUAL "base")
    target_precompile_headers(cuda_agent_${name} REUSE_FROM cuda_agent_base)
  endif()
endfunction()

# cuda_agent_test(<name> SOURCES ... DEPENDS ... [LABELS label] [ENVIRONMENT NAME=VALUE] [TIMEOUT seconds]
#                 [WHOLE] [TORCH])
# One GoogleTest program; its cases are CTest tests named <name>.<Suite>.<Case>. With WHOLE it is one
# CTest test, for suites whose set-up is dear. TORCH is for those that include LibTorch's headers.
function(cuda_agent_test name)
  cmake_parse_arguments(ARG "WHOLE;TORCH" "TIMEOUT;LABELS;ENVIRONMENT" "SOURCES;DEPENDS" ${ARGN})
  if(NOT CUDA_AGENT_TESTS)
    return()
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_executable(test_${name} ${ARG_SOURCES})
  set_target_properties(test_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY
                                                ${CMAKE_BINARY_DIR}/tests)
  cuda_agent_link(test_${name} PRIVATE ${ARG_DEPENDS})
  target_link_libraries(test_${name} PRIVATE cuda_agent_source_dir GTest::gtest GTest::gtest_main)
  cuda_agent_quick_to_compile(test_${name})
  if(ARG_TORCH)
    target_precompile_headers(test_${name} REUSE_FROM cuda_agent_learn_kernels)
  else()
    target_precompile_headers(test_${name} REUSE_FROM cuda_agent_tests)
  endif()
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit) # an empty value would vanish and shift the others
  endif()
  set(properties TIMEOUT ${ARG_TIMEOUT} LABELS ${ARG_LABELS})
  if(ARG_ENVIRONMENT)
    list(APPEND properties ENVIRONMENT ${ARG_ENVIRONMENT})
  endif()
  if(ARG_WHOLE)
    add_test(NAME ${name} COMMAND test_${name})
    set_tests_properties(${name} PROPERTIES ${properties})
    return()
  endif()
  gtest_discover_tests(
    test_${name}
    TEST_PREFIX "${name}."
    DISCOVERY_TIMEOUT 60
    PROPERTIES ${properties})
endfunction()

# Code of tests is compiled once and runs once: with -Og it is there in two thirds of the time.
# The level stays above 0, at which the precompiled headers of the rooms would not fit. g++ 12 takes
# every std::stop_source for uninitialised there.
function(cuda_agent_quick_to_compile target)
  target_compile_options(${target}
                         PRIVATE "$<$<CONFIG:RelWithDebInfo>:-Og;-Wno-maybe-uninitialized>")
endfunction()

# Links rooms by their short names and anything else as it is.
function(cuda_agent_link target visibility)
  foreach(dependency IN LISTS ARGN)
    if(EXISTS ${PROJECT_SOURCE_DIR}/core/${dependency})
      target_link_libraries(${target} ${visibility} cuda_agent_${dependency})
    else()
      target_link_libraries(${target} ${visibility} ${dependency})
    endif()
  endforeach()
endfunction()

# cuda_agent_share(<subfolder> FILES ...): files the programs read at run time, copied when changed
# to share/cuda-agent/<subfolder> of the build tree.
function(cuda_agent_share subfolder)
  cmake_parse_arguments(ARG "" "" "FILES" ${ARGN})
  set(outputs)
  foreach(file IN LISTS ARG_FILES)
    get_filename_component(name ${file} NAME)
    set(output ${CMAKE_BINARY_DIR}/share/cuda-agent/${subfolder}/${name})
    add_custom_command(
      OUTPUT ${output}
      COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_CURRENT_SOURCE_DIR}/${file} ${output}
      DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${file})
    list(APPEND outputs ${output})
  endforeach()
  string(MAKE_C_IDENTIFIER share_${subfolder} target)
  add_custom_target(${target} ALL DEPENDS ${outputs})
endfunction()

# cuda_agent_widgets(<name> SOURCES ... [DEPENDS <rooms of widgets/ and targets> ...])
# One folder under widgets/ as a static library `cuda_agent_widgets_<name>`, with moc.
function(cuda_agent_widgets name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  set(target cuda_agent_widgets_${name})
  add_library(${target} STATIC ${ARG_SOURCES})
  set_target_properties(${target} PROPERTIES AUTOMOC ON)
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${target} PUBLIC QT_NO_CAST_FROM_ASCII)
  cuda_agent_link_widgets(${target} PUBLIC ${ARG_DEPENDS})
  if(NOT name STREQUAL "base")
    target_precompile_headers(${target} REUSE_FROM cuda_agent_widgets_base)
  endif()
endfunction()

# cuda_agent_window_test(<name> SOURCES ... DEPENDS ... [LABELS label] [TIMEOUT seconds])
# One Qt Test program (QTEST_MAIN), run offscreen as the CTest test window.<name>.
function(cuda_agent_window_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT;LABELS" "SOURCES;DEPENDS" ${ARGN})
  if(NOT CUDA_AGENT_TESTS)
    return()
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  if(NOT ARG_LABELS)
    set(ARG_LABELS window)
  endif()
  set(target window_test_${name})
  add_executable(${target} ${ARG_SOURCES})
  set_target_properties(${target} PROPERTIES AUTOMOC ON RUNTIME_OUTPUT_DIRECTORY
                                                        ${CMAKE_BINARY_DIR}/tests)
  cuda_agent_link_widgets(${target} PRIVATE ${ARG_DEPENDS} Qt6::Test)
  target_link_libraries(${target} PRIVATE cuda_agent_source_dir)
  cuda_agent_quick_to_compile(${target})
  target_precompile_headers(${target} REUSE_FROM cuda_agent_widgets_base)
  add_test(NAME window.${name} COMMAND ${target})
  set_tests_properties(
    window.${name}
    PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS ${ARG_LABELS} ENVIRONMENT
               "QT_QPA_PLATFORM=offscreen;QTEST_FUNCTION_TIMEOUT=${ARG_TIMEOUT}000;CUDA_AGENT_BIN=${CMAKE_BINARY_DIR}/bin")
endfunction()

# Links rooms of widgets/ by their short names and anything else as it is.
function(cuda_agent_link_widgets target visibility)
  foreach(dependency IN LISTS ARGN)
    if(EXISTS ${PROJECT_SOURCE_DIR}/widgets/${dependency})
      target_link_libraries(${target} ${visibility} cuda_agent_widgets_${dependency})
    else()
      target_link_libraries(${target} ${visibility} ${dependency})
    endif()
  endforeach()
endfunction()
