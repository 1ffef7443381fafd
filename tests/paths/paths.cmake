# Programs that know the paths of their own calls: paths/call_paths.py compares with what was recorded.
set(paths_folder ${CMAKE_CURRENT_LIST_DIR})

# How call_paths.c is compiled: how frames are found depends on it.
set(paths_variants O0 O1 O2 O3 pointers no_pointers)
set(paths_flags_O0 -O0)
set(paths_flags_O1 -O1)
set(paths_flags_O2 -O2)
set(paths_flags_O3 -O3)
set(paths_flags_pointers -O2 -fno-omit-frame-pointer)
set(paths_flags_no_pointers -O0 -fomit-frame-pointer)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
  list(APPEND paths_variants aligned)
  set(paths_flags_aligned -O2 -mstackrealign)
endif()

# The programs for one MPI, appended to a list.
function(refrain_path_programs list out mpicc mpicxx)
  set(all ${${list}})
  foreach(variant ${paths_variants})
    refrain_mpi_compile(OUTPUT ${out}/call_paths_${variant} COMPILER ${mpicc}
      FLAGS -g ${paths_flags_${variant}} ${warnings} SOURCES ${paths_folder}/call_paths.c
      DEPENDS ${paths_folder}/own_paths.h)
    list(APPEND all ${out}/call_paths_${variant})
  endforeach()
  # Frames of another size, code of the same.
  foreach(part a b)
    set(room_a 40)
    set(room_b 88)
    refrain_mpi_compile(OUTPUT ${out}/libunload_${part}.so COMPILER ${mpicc}
      FLAGS -shared -fPIC -g -O1 ${warnings} -DPART=${part} -DPART_ROOM=${room_${part}}
      SOURCES ${paths_folder}/unload_part.c)
    list(APPEND all ${out}/libunload_${part}.so)
  endforeach()
  refrain_mpi_compile(OUTPUT ${out}/unload COMPILER ${mpicc} FLAGS -g -O1 ${warnings}
    SOURCES ${paths_folder}/unload.c LIBS -ldl)
  refrain_mpi_compile(OUTPUT ${out}/callback_paths COMPILER ${mpicc} FLAGS -g -O1 ${warnings}
    SOURCES ${paths_folder}/callback_paths.c DEPENDS ${paths_folder}/own_paths.h)
  list(APPEND all ${out}/unload ${out}/callback_paths)
  if(EXISTS ${mpicxx})
    refrain_mpi_compile(OUTPUT ${out}/exceptions COMPILER ${mpicxx}
      FLAGS -std=c++17 -DOMPI_SKIP_MPICXX=1 -DMPICH_SKIP_MPICXX=1 -g -O1 -pthread ${warnings}
      SOURCES ${paths_folder}/exceptions.cc)
    list(APPEND all ${out}/exceptions)
  endif()
  set(${list} ${all} PARENT_SCOPE)
endfunction()

# refrain_path_test(mpich FOLDER call_paths_O2 WORDS for the script ARGUMENTS of the program)
function(refrain_path_test mpi out name)
  cmake_parse_arguments(ARG "" "" "ARGUMENTS;WORDS" ${ARGN})
  add_test(NAME mpi.${mpi}.paths.${name}
    COMMAND ${REFRAIN_PYTHON} ${paths_folder}/call_paths.py --refrain $<TARGET_FILE:refrain> --mpi ${mpi}
            --libraries $<TARGET_FILE_DIR:refrain-${mpi}> ${ARG_WORDS} ${out}/${name} ${ARG_ARGUMENTS})
  set_tests_properties(mpi.${mpi}.paths.${name} PROPERTIES LABELS mpi TIMEOUT 900)
endfunction()

function(refrain_path_tests mpi out shim)
  foreach(variant ${paths_variants})
    refrain_path_test(${mpi} ${out} call_paths_${variant} WORDS --shim ${shim} --all-by-rules)
    if(NOT variant STREQUAL O2)
      refrain_exhaustive_on_others(${mpi} mpi.${mpi}.paths.call_paths_${variant})
    endif()
  endforeach()
  refrain_path_test(${mpi} ${out} unload WORDS --shim ${shim} --all-by-rules --silent
    ARGUMENTS ${out}/libunload_a.so ${out}/libunload_b.so)
  refrain_path_test(${mpi} ${out} callback_paths WORDS --shim ${shim} --callbacks)
  refrain_path_test(${mpi} ${out} exceptions WORDS --shim ${shim})
endfunction()
