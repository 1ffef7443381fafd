# Finds MPICH and Open MPI side by side, and SimGrid's SMPI, and generates the recorder's wrappers for
# each.
#
#   REFRAIN_MPIS                           the ones found, of REFRAIN_KNOWN_MPIS
#   REFRAIN_MPICC_<mpi>                    the compiler wrapper
#   REFRAIN_MPI_INCLUDES_<mpi>             include folders of its mpi.h
#   REFRAIN_MPI_LIBRARY_<mpi>              full path of libmpich.so or libmpi.so
#   REFRAIN_MPI_FORTRAN_LIBRARIES_<mpi>    full paths of its Fortran layers; empty: no trampolines
#   refrain_generate_mpi(<mpi> OUT_VAR)    OUT_VAR: generated sources, for one target of that MPI
#   refrain_link_mpi(<target> <mpi>)       include folders, definitions and the library, for that target
include_guard()
include(RefrainKnownMpis)

# -- finding --

# A compiler wrapper of either kind says how it calls the compiler: MPICH with -show, Open MPI with
# -showme. Sets OUT_KIND to a word of REFRAIN_LAUNCHED_MPIS (empty: none) and OUT_FLAGS to the words of the command.
function(refrain_ask_mpicc mpicc out_kind out_flags)
  set(${out_kind} "" PARENT_SCOPE)
  execute_process(COMMAND ${mpicc} -showme OUTPUT_VARIABLE line RESULT_VARIABLE status ERROR_QUIET
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT status EQUAL 0)
    execute_process(COMMAND ${mpicc} -show OUTPUT_VARIABLE line RESULT_VARIABLE status ERROR_QUIET
                    OUTPUT_STRIP_TRAILING_WHITESPACE)
  endif()
  if(NOT status EQUAL 0)
    return()
  endif()
  separate_arguments(words UNIX_COMMAND "${line}")
  foreach(kind ${REFRAIN_LAUNCHED_MPIS})
    if(line MATCHES "${REFRAIN_SHOWN_${kind}}")
      set(${out_kind} ${kind} PARENT_SCOPE)
      break()
    endif()
  endforeach()
  set(${out_flags} ${words} PARENT_SCOPE)
endfunction()

# Words that begin with `prefix`, without it.
function(refrain_words_with prefix words out)
  set(found)
  foreach(word ${words})
    if(word MATCHES "^${prefix}(.+)$")
      list(APPEND found ${CMAKE_MATCH_1})
    endif()
  endforeach()
  set(${out} ${found} PARENT_SCOPE)
endfunction()

# An MPI that cannot be used: its recorder is left out, and a line says why. Whoever named its wrapper wants it.
function(refrain_leave_out mpi why)
  get_property(help CACHE REFRAIN_MPICC_${mpi} PROPERTY HELPSTRING)
  if(REFRAIN_MPICC_${mpi} AND help MATCHES "on the command line")
    message(FATAL_ERROR "refrain: REFRAIN_MPICC_${mpi}=${REFRAIN_MPICC_${mpi}}: ${why}")
  endif()
  message(STATUS "refrain: no recorder for ${mpi}: ${why}")
  unset(REFRAIN_MPI_LIBRARY_${mpi} CACHE)
endfunction()

# Debian and Ubuntu keep both beside each other (mpicc.mpich, mpicc.openmpi), others in folders of their
# own, and a machine with one MPI has just mpicc.
function(refrain_find_mpi mpi)
  set(places /usr/lib64/${mpi}/bin /usr/lib/${mpi}/bin /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/${mpi}/bin
      /opt/${mpi}/bin /usr/local/${mpi}/bin)
  set(candidates ${REFRAIN_MPICC_${mpi}})
  set(rejected)
  foreach(name mpicc.${mpi} mpicc)
    find_program(refrain_mpicc_candidate ${name} PATHS ${places} NO_CACHE)
    list(APPEND candidates ${refrain_mpicc_candidate})
    unset(refrain_mpicc_candidate)
  endforeach()
  foreach(place ${places})
    if(EXISTS ${place}/mpicc)
      list(APPEND candidates ${place}/mpicc)
    endif()
  endforeach()
  # The user's own word, or nothing.
  get_property(help CACHE REFRAIN_MPICC_${mpi} PROPERTY HELPSTRING)
  if(REFRAIN_MPICC_${mpi} AND help MATCHES "on the command line")
    set(candidates ${REFRAIN_MPICC_${mpi}})
    if(NOT EXISTS ${REFRAIN_MPICC_${mpi}})
      refrain_leave_out(${mpi} "no such file")
    endif()
  endif()
  foreach(mpicc ${candidates})
    if(mpicc AND EXISTS ${mpicc})
      refrain_ask_mpicc(${mpicc} kind words)
      if(kind STREQUAL mpi)
        refrain_use_mpicc(${mpi} ${mpicc} "${words}")
        return()
      endif()
      list(APPEND rejected "${mpicc} is of ${kind}")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES rejected)
  list(JOIN rejected ", " rejected)
  list(JOIN places " " places)
  if(rejected)
    refrain_leave_out(${mpi} "no compiler wrapper of it (${rejected})")
  else()
    refrain_leave_out(${mpi} "no compiler wrapper mpicc.${mpi} or mpicc in PATH or ${places}")
  endif()
endfunction()

function(refrain_use_mpicc mpi mpicc words)
  refrain_words_with(-I "${words}" includes)
  refrain_words_with(-L "${words}" library_dirs)
  if(NOT includes)
    get_filename_component(prefix ${mpicc} DIRECTORY)
    get_filename_component(prefix ${prefix} DIRECTORY)
    set(includes ${prefix}/include)
  endif()
  set(main_library ${REFRAIN_LIBRARY_NAME_${mpi}})
  set(fortran_names ${REFRAIN_FORTRAN_NAMES_${mpi}})
  find_library(library NAMES ${main_library} HINTS ${library_dirs} NO_CACHE)
  if(NOT library)
    list(JOIN library_dirs " " looked)
    refrain_leave_out(${mpi} "no lib${main_library}.so in ${looked}, where ${mpicc} looks, nor in the system's folders")
    return()
  endif()
  set(has_header)
  foreach(folder ${includes} /usr/include)
    if(EXISTS ${folder}/mpi.h)
      set(has_header TRUE)
    endif()
  endforeach()
  if(NOT has_header)
    list(JOIN includes " " looked)
    refrain_leave_out(${mpi} "${library} is there, its mpi.h is not (looked in ${looked}): install its headers")
    return()
  endif()
  # Open MPI 6 has its predefined objects in a library beside libmpi.so, and its wrapper names both.
  set(beside)
  if(mpi STREQUAL openmpi)
    find_library(open_mpi NAMES open_mpi HINTS ${library_dirs} NO_DEFAULT_PATH NO_CACHE)
    if(open_mpi AND "-lopen_mpi" IN_LIST words)
      set(beside ${open_mpi})
    endif()
  endif()
  set(fortran)
  foreach(name ${fortran_names})
    find_library(fortran_library NAMES ${name} HINTS ${library_dirs} NO_CACHE)
    if(fortran_library)
      list(APPEND fortran ${fortran_library})
    endif()
    unset(fortran_library)
  endforeach()
  message(STATUS "refrain: ${mpi}: ${mpicc}, ${library}")
  set(REFRAIN_MPICC_${mpi} ${mpicc} CACHE FILEPATH "Compiler wrapper of ${mpi}")
  set(REFRAIN_MPI_INCLUDES_${mpi} "${includes}" CACHE INTERNAL "")
  set(REFRAIN_MPI_LIBRARY_${mpi} ${library} CACHE INTERNAL "")
  set(REFRAIN_MPI_LIBRARY_BESIDE_${mpi} "${beside}" CACHE INTERNAL "")
  set(REFRAIN_MPI_FORTRAN_LIBRARIES_${mpi} "${fortran}" CACHE INTERNAL "")
endfunction()

# SMPI is a part of SimGrid: ranks are actors of a simulation in one process.
function(refrain_find_smpi)
  find_program(smpicc NAMES smpicc NO_CACHE)
  find_path(includes NAMES smpi/mpi.h NO_CACHE)
  find_library(library NAMES simgrid NO_CACHE)
  if(NOT smpicc OR NOT includes OR NOT library)
    refrain_leave_out(smpi "no smpicc, smpi/mpi.h or libsimgrid.so")
    return()
  endif()
  message(STATUS "refrain: smpi: ${smpicc}, ${library}")
  set(REFRAIN_MPICC_smpi ${smpicc} CACHE FILEPATH "Compiler wrapper of SMPI")
  set(REFRAIN_MPI_INCLUDES_smpi ${includes}/smpi ${includes} CACHE INTERNAL "")
  set(REFRAIN_MPI_LIBRARY_smpi ${library} CACHE INTERNAL "")
endfunction()

function(refrain_write_abi_wrapper path line library_dir)
  set(libraries "-L${library_dir} -lmpi_abi")
  file(WRITE ${path} "#!/bin/sh
case \"$1\" in -show*) echo '${line} ${libraries}'; exit ;; esac
exec ${line} \"$@\" ${libraries}
")
  file(CHMOD ${path} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
endfunction()

# The standard ABI of MPI 5: one mpi.h and one libmpi_abi.so, whichever MPI is behind it. A compiler wrapper of
# it is made here, as the distributions name theirs in many ways.
function(refrain_find_abi)
  set(folders ${REFRAIN_ABI_INCLUDE})
  foreach(lib /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE} /usr/lib64 /usr/lib /usr/local/lib)
    list(APPEND folders ${lib}/mpi_abi_mpich/include ${lib}/mpi_abi/include ${lib}/openmpi/include/standard_abi)
  endforeach()
  list(APPEND folders /usr/include/standard_abi /usr/local/include/standard_abi)
  set(includes)
  foreach(folder ${folders})
    if(NOT includes AND EXISTS ${folder}/mpi.h)
      file(STRINGS ${folder}/mpi.h version REGEX "^#define[ \t]+MPI_ABI_VERSION[ \t]+[1-9]")
      if(version)
        set(includes ${folder})
      endif()
    endif()
  endforeach()
  get_filename_component(beside "${includes}" DIRECTORY)
  find_library(library NAMES mpi_abi HINTS ${beside}/lib ${REFRAIN_ABI_LIBRARY_DIR} NO_CACHE)
  if(NOT includes OR NOT library)
    refrain_leave_out(abi "no mpi.h of the standard ABI of MPI 5, or no libmpi_abi.so")
    return()
  endif()
  message(STATUS "refrain: abi: ${includes}, ${library}")
  get_filename_component(library_dir ${library} DIRECTORY)
  # Programs are compiled by the system's compiler, as those of other MPIs are by their wrappers.
  find_program(REFRAIN_SYSTEM_CC NAMES cc gcc ${CMAKE_C_COMPILER})
  find_program(REFRAIN_SYSTEM_CXX NAMES c++ g++ ${CMAKE_CXX_COMPILER})
  refrain_write_abi_wrapper(${CMAKE_BINARY_DIR}/mpicc_abi "${REFRAIN_SYSTEM_CC} -I${includes}" ${library_dir})
  refrain_write_abi_wrapper(${CMAKE_BINARY_DIR}/mpicxx_abi "${REFRAIN_SYSTEM_CXX} -I${includes}" ${library_dir})
  set(REFRAIN_MPICC_abi ${CMAKE_BINARY_DIR}/mpicc_abi CACHE FILEPATH "Compiler wrapper of the standard ABI")
  set(REFRAIN_MPI_INCLUDES_abi ${includes} CACHE INTERNAL "")
  set(REFRAIN_MPI_LIBRARY_abi ${library} CACHE INTERNAL "")
endfunction()

set(REFRAIN_MPIS)
foreach(mpi ${REFRAIN_LAUNCHED_MPIS})
  refrain_find_mpi(${mpi})
endforeach()
refrain_find_abi()
refrain_find_smpi()
foreach(mpi ${REFRAIN_KNOWN_MPIS})
  if(REFRAIN_MPI_LIBRARY_${mpi})
    list(APPEND REFRAIN_MPIS ${mpi})
  endif()
endforeach()
unset(mpi)
if(NOT REFRAIN_MPIS)
  message(WARNING "refrain: no MPI found (looked for mpicc.mpich, mpicc.openmpi, mpicc): no recorder is "
                  "built; install mpich or openmpi, or set REFRAIN_MPICC_mpich or REFRAIN_MPICC_openmpi")
endif()

# -- generating --

set(REFRAIN_MPI_DEFINITIONS OMPI_SKIP_MPICXX=1 MPICH_SKIP_MPICXX=1 CACHE INTERNAL "No C++ of old mpi.h")

# The compiler with which generators read an MPI's mpi.h, and where that is.
function(refrain_header_compiler mpi out_var)
  set(compiler "${CMAKE_CXX_COMPILER}")
  foreach(folder ${REFRAIN_MPI_INCLUDES_${mpi}})
    string(APPEND compiler " -I${folder}")
  endforeach()
  set(${out_var} "${compiler}" PARENT_SCOPE)
endfunction()

function(refrain_generate_mpi mpi out_var)
  set(gen ${CMAKE_SOURCE_DIR}/tools/gen)
  set(tables ${CMAKE_SOURCE_DIR}/spec/mpi)
  set(out ${CMAKE_BINARY_DIR}/generated/${mpi})
  refrain_header_compiler(${mpi} compiler)
  set(sources ${out}/real_functions.cc ${out}/constants_table.cc ${out}/fortran_site.cc)
  set(forwarded ${out}/forwarded.cc ${out}/forwarded_table.cc)
  set(beside ${forwarded} ${out}/real_functions.h ${out}/hand.h ${out}/functions.json)
  foreach(part RANGE 3)
    list(APPEND sources ${out}/wrappers_${part}.cc)
  endforeach()
  if(NOT mpi STREQUAL smpi)
    list(APPEND sources ${out}/logged_0.cc ${out}/logged_1.cc ${out}/world_0.cc ${out}/world_1.cc)
    list(APPEND beside ${out}/logged_hand.h ${out}/world_hand.h)
  endif()
  set(fortran_flags)
  # The trampolines are x86-64 assembly; elsewhere Fortran's calls are seen where they reach C.
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$" AND REFRAIN_MPI_FORTRAN_LIBRARIES_${mpi})
    enable_language(ASM)
    list(APPEND sources ${out}/fortran_trampolines.S)
    foreach(library ${REFRAIN_MPI_FORTRAN_LIBRARIES_${mpi}})
      list(APPEND fortran_flags --fortran-library ${library})
    endforeach()
  endif()
  set(kind_flags)
  if(mpi STREQUAL smpi)
    list(APPEND kind_flags --calls-itself)
  endif()
  if(REFRAIN_STRICT_MPI)
    list(APPEND kind_flags --strict)
  endif()
  set(headers)
  foreach(folder ${REFRAIN_MPI_INCLUDES_${mpi}})
    file(GLOB found ${folder}/mpi*.h)
    list(APPEND headers ${found})
  endforeach()
  file(MAKE_DIRECTORY ${out})
  file(CONFIGURE OUTPUT ${out}/own_word.h @ONLY CONTENT "// Generated by cmake/RefrainMpi.cmake: do not edit.
#pragma once

namespace refrain {

// The word of `record --mpi` for the MPI that this is compiled for.
inline constexpr char kOwnWord[] = \"@mpi@\";

}  // namespace refrain
")
  # Files whose content stays keep their time: the stamp says that the generator ran.
  add_custom_command(
    OUTPUT ${out}/wrappers.stamp
    BYPRODUCTS ${sources} ${beside}
    COMMAND ${REFRAIN_PYTHON} ${gen}/gen_wrappers.py --spec ${tables} --out ${out}
            --compiler ${compiler} --library ${REFRAIN_MPI_LIBRARY_${mpi}} ${fortran_flags}
            ${kind_flags}
    COMMAND ${CMAKE_COMMAND} -E touch ${out}/wrappers.stamp
    DEPENDS ${gen}/gen_wrappers.py ${gen}/gen_calls.py ${gen}/spec.py ${gen}/mpi_header.py
            ${gen}/wrapper_body.py ${gen}/message_size.py ${gen}/constants_code.py ${gen}/fortran.py
            ${gen}/forward.py ${gen}/logged.py ${gen}/world.py
            ${tables}/calls ${tables}/constants ${tables}/exceptions ${tables}/undeclared
            ${tables}/fortran_direct ${headers}
    VERBATIM
    COMMENT "Generating the wrappers for ${mpi}")
  add_custom_target(refrain_wrappers_${mpi} DEPENDS ${out}/wrappers.stamp)
  set(REFRAIN_FORWARDED_${mpi} ${forwarded} CACHE INTERNAL "What functions that nobody knows go through")
  set(REFRAIN_GENERATE_${mpi} ${REFRAIN_PYTHON} ${gen}/gen_wrappers.py --spec ${tables} --compiler ${compiler}
      --library ${REFRAIN_MPI_LIBRARY_${mpi}} ${kind_flags} CACHE INTERNAL "")
  set(${out_var} ${sources} ${CMAKE_SOURCE_DIR}/src/tracer/wrap/wrapper_support.cc PARENT_SCOPE)
endfunction()

function(refrain_link_mpi target mpi)
  add_dependencies(${target} refrain_wrappers_${mpi} refrain_mpi_tables)
  target_include_directories(${target} PRIVATE ${CMAKE_BINARY_DIR}/generated/${mpi})
  target_include_directories(${target} SYSTEM PRIVATE ${REFRAIN_MPI_INCLUDES_${mpi}})
  target_compile_definitions(${target} PRIVATE ${REFRAIN_MPI_DEFINITIONS})
  if(mpi STREQUAL smpi)
    target_compile_definitions(${target} PRIVATE REFRAIN_SMPI=1)
  endif()
  # A recorder finds the objects of the library beside through the first, which needs it: so one that was built
  # with Open MPI 6 also loads where Open MPI 5 has no such library.
  set(beside ${REFRAIN_MPI_LIBRARY_BESIDE_${mpi}})
  get_target_property(type ${target} TYPE)
  if(beside AND NOT type STREQUAL EXECUTABLE)
    set(beside -Wl,-z,undefs)
  endif()
  # Needed even where the recorder itself names no symbol of it: a program may open its MPI with dlopen.
  target_link_libraries(${target} PRIVATE -Wl,--no-as-needed ${REFRAIN_MPI_LIBRARY_${mpi}} ${beside}
                        -Wl,--as-needed ${CMAKE_DL_LIBS})
endfunction()

# -- coverage --

# What is declared, wrapped, recorded and excepted, for every MPI found: a test, and the target
# refrain_coverage that prints it.
function(refrain_add_coverage)
  set(command ${REFRAIN_PYTHON} ${CMAKE_SOURCE_DIR}/tools/gen/coverage.py
      --spec ${CMAKE_SOURCE_DIR}/spec/mpi)
  foreach(mpi ${REFRAIN_MPIS})
    list(JOIN REFRAIN_MPI_INCLUDES_${mpi} " -I" includes)
    list(APPEND command --mpi ${mpi} "${CMAKE_CXX_COMPILER} -I${includes}"
         ${REFRAIN_MPI_LIBRARY_${mpi}})
    foreach(library ${REFRAIN_MPI_FORTRAN_LIBRARIES_${mpi}})
      list(APPEND command --fortran ${mpi} ${library})
    endforeach()
  endforeach()
  add_test(NAME mpi.coverage COMMAND ${command})
  set_tests_properties(mpi.coverage PROPERTIES LABELS unit TIMEOUT 900
                       ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)
  add_custom_target(refrain_coverage COMMAND ${command} VERBATIM)
endfunction()

# That a program of tests/programs calls every function of the standard, or spec/mpi/untested says why not: a test.
# SMPI has a list of programs of its own, and the standard ABI runs those of others.
function(refrain_add_tested)
  set(command ${REFRAIN_PYTHON} ${CMAKE_SOURCE_DIR}/tools/gen/tested.py check
      --spec ${CMAKE_SOURCE_DIR}/spec/mpi --programs ${CMAKE_SOURCE_DIR}/tests/programs)
  foreach(mpi ${REFRAIN_LAUNCHED_MPIS})
    if(NOT mpi IN_LIST REFRAIN_MPIS)
      continue()
    endif()
    list(JOIN REFRAIN_MPI_INCLUDES_${mpi} " -I" includes)
    list(APPEND command --mpi ${mpi} "${CMAKE_CXX_COMPILER} -I${includes} ${REFRAIN_TEST_FLAGS_${mpi}}"
         ${REFRAIN_MPI_LIBRARY_${mpi}})
  endforeach()
  add_test(NAME mpi.tested COMMAND ${command})
  set_tests_properties(mpi.tested PROPERTIES LABELS unit TIMEOUT 900 ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)
endfunction()

# What programs of tests/programs are compiled with, where an MPI has it: its library of Fortran has MPI_Status_c2f08.
find_library(REFRAIN_MPICHFORT NAMES mpichfort)
mark_as_advanced(REFRAIN_MPICHFORT)
if(REFRAIN_MPICHFORT)
  set(REFRAIN_TEST_FLAGS_mpich -DREFRAIN_TEST_STATUS_F08)
endif()

if(REFRAIN_MPIS)
  refrain_add_coverage()
  refrain_add_tested()
endif()
