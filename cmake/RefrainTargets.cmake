# How a folder of src/ becomes a target: one folder, one library, one namespace.
include_guard()

add_library(refrain_flags INTERFACE)
target_include_directories(refrain_flags INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
target_compile_options(refrain_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wno-missing-field-initializers)
# GCC 12 warns of "text" + std::string() (its bug 105651, gone in 13).
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(refrain_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
# GCC looks for memory to free from 128 MB on, which is a tenth of the time of a united source; they take 500 to 1100 MB.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  target_compile_options(refrain_flags INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:SHELL:--param ggc-min-heapsize=524288>")
endif()
if(REFRAIN_WERROR)
  target_compile_options(refrain_flags INTERFACE -Werror)
endif()

# The sanitizers go into everything but the recorder, which lives inside other people's programs; with the thread
# sanitizer the recorder gets a twin for tests/race.
add_library(refrain_sanitize INTERFACE)
if(REFRAIN_SANITIZE)
  target_compile_options(refrain_sanitize INTERFACE
    -fsanitize=${REFRAIN_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(refrain_sanitize INTERFACE -fsanitize=${REFRAIN_SANITIZE})
endif()
# So that the fuzzer sees which ways through our code an input takes.
if(REFRAIN_FUZZ)
  target_compile_options(refrain_sanitize INTERFACE -fsanitize=fuzzer-no-link)
endif()

# refrain_united(target [BATCH n] [APART a.cc ...]): compiles n (16) of its sources in one compiler run, because most of the
# time goes into headers. With REFRAIN_UNITED only: without, each source shows that it includes what it uses. APART: sources
# that have a name in common with another one, and those that a small executable takes out of the archive.
function(refrain_united target)
  cmake_parse_arguments(ARG "" "BATCH" "APART" ${ARGN})
  if(NOT ARG_BATCH)
    set(ARG_BATCH 16)
  endif()
  if(NOT REFRAIN_UNITED)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${ARG_BATCH})
  # GCC takes what is included for a header, whose unnamed namespace would be another one in each source.
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
  endif()
  set_source_files_properties(${ARG_APART} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# refrain_common_headers(target): what nearly all sources include is read once for the target. For those of many sources
# that are compiled one by one; with REFRAIN_UNITED only, as refrain_united().
function(refrain_common_headers target)
  if(REFRAIN_UNITED)
    target_precompile_headers(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${CMAKE_SOURCE_DIR}/src/base/common_headers.h>)
    # What is preprocessed names the compiled header, as ccache wants it.
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)
  endif()
endfunction()

# What all code of the recorder is compiled with.
set(REFRAIN_TRACER_OPTIONS -fvisibility=hidden -fno-exceptions -ftls-model=initial-exec)

# refrain_library(base [IN_TRACER] [UNITED] [BATCH n] SOURCES a.cc b.cc DEPS ... [TESTS a_test.cc ...] [APART ...])
# Libraries that the recorder also links get a twin NAME_plain, never sanitized, no exceptions, and
# under the thread sanitizer one NAME_tsan, for the recorder that is tested there. Without sanitizers both are made of the same objects.
# UNITED, BATCH, APART: see refrain_united(); TEST_BATCH: of the tests.
set(REFRAIN_TRACER_TWINS plain)
if(REFRAIN_SANITIZE STREQUAL "thread")
  list(APPEND REFRAIN_TRACER_TWINS tsan)
endif()

# The twin of refrain_library()'s library: its arguments are seen here.
function(refrain_tracer_library name twin)
  set(target refrain_${name}_${twin})
  set(sources ${ARG_SOURCES})
  if(TARGET refrain_${name}_objects)
    set(sources $<TARGET_OBJECTS:refrain_${name}_objects>)
  endif()
  add_library(${target} STATIC ${sources})
  set(deps)
  foreach(dep ${ARG_DEPS})
    if(TARGET ${dep}_${twin})
      list(APPEND deps ${dep}_${twin})
    else()
      list(APPEND deps ${dep})
    endif()
  endforeach()
  target_link_libraries(${target} PUBLIC refrain_flags ${deps})
  target_compile_options(${target} PRIVATE ${REFRAIN_TRACER_OPTIONS})
  if(ARG_UNITED)
    refrain_united(${target} BATCH 8 APART ${ARG_APART})
  endif()
  if(twin STREQUAL "tsan")
    target_link_libraries(${target} PUBLIC refrain_sanitize)
  endif()
endfunction()

function(refrain_library name)
  cmake_parse_arguments(ARG "IN_TRACER;UNITED" "BATCH;TEST_BATCH" "SOURCES;DEPS;TESTS;TEST_DEPS;APART" ${ARGN})
  set(compiled refrain_${name})
  if(ARG_IN_TRACER AND REFRAIN_WITH_MPI AND NOT REFRAIN_SANITIZE AND NOT REFRAIN_FUZZ)
    set(compiled refrain_${name}_objects)
    add_library(${compiled} OBJECT ${ARG_SOURCES})
    target_link_libraries(${compiled} PRIVATE refrain_flags ${ARG_DEPS})
    target_compile_options(${compiled} PRIVATE ${REFRAIN_TRACER_OPTIONS})
    add_library(refrain_${name} STATIC $<TARGET_OBJECTS:${compiled}>)
  else()
    add_library(refrain_${name} STATIC ${ARG_SOURCES})
  endif()
  if(ARG_IN_TRACER)
    set(ARG_BATCH 8)  # what the recorder costs was measured with this
  endif()
  if(ARG_UNITED)
    refrain_united(${compiled} BATCH ${ARG_BATCH} APART ${ARG_APART})
  endif()
  target_link_libraries(refrain_${name} PUBLIC refrain_flags refrain_sanitize ${ARG_DEPS})
  if(ARG_IN_TRACER AND REFRAIN_WITH_MPI)
    foreach(twin ${REFRAIN_TRACER_TWINS})
      refrain_tracer_library(${name} ${twin})
    endforeach()
  endif()
  if(ARG_TESTS)
    refrain_unit_test(${name} SOURCES ${ARG_TESTS} DEPS refrain_${name} ${ARG_TEST_DEPS} APART ${ARG_APART}
      BATCH ${ARG_TEST_BATCH})
  endif()
endfunction()

# refrain_unit_test(grammar SOURCES x_test.cc DEPS refrain_grammar [APART ...] [BATCH n] [EXHAUSTIVE pattern]): one binary, one ctest
# entry. Tests that match the pattern (of GoogleTest) take long: they are an exhaustive entry NAME.rest.
# In release builds compiled with -O1: a third less time, and what takes long at run time is in the libraries.
function(refrain_unit_test name)
  if(NOT REFRAIN_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "EXHAUSTIVE;BATCH" "SOURCES;DEPS;APART" ${ARGN})
  add_executable(${name}_test ${ARG_SOURCES})
  set_property(GLOBAL APPEND PROPERTY REFRAIN_UNIT_TESTS ${name}_test)
  refrain_united(${name}_test BATCH ${ARG_BATCH} APART ${ARG_APART})
  target_compile_options(${name}_test PRIVATE $<$<CONFIG:Release>:-O1>)
  target_link_libraries(${name}_test PRIVATE ${ARG_DEPS} GTest::gtest GTest::gtest_main)
  if(ARG_EXHAUSTIVE)
    add_test(NAME unit.${name} COMMAND ${name}_test --gtest_filter=-${ARG_EXHAUSTIVE})
    add_test(NAME unit.${name}.rest COMMAND ${name}_test --gtest_filter=${ARG_EXHAUSTIVE})
    set_tests_properties(unit.${name}.rest PROPERTIES LABELS "unit;exhaustive" TIMEOUT 3000)
  else()
    add_test(NAME unit.${name} COMMAND ${name}_test)
  endif()
  set(seconds 900)
  if(CMAKE_CROSSCOMPILING OR REFRAIN_SANITIZE)
    set(seconds 3000)  # an emulator or a sanitizer takes ten times as long
  endif()
  set_tests_properties(unit.${name} PROPERTIES LABELS unit TIMEOUT ${seconds})
endfunction()
