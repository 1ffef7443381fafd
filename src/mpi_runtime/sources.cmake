# What calls MPI, compiled for each one; src/tracer/CMakeLists.txt makes recorders of it.
set(mpi_runtime_sources
  agreement.cc built_with.cc clocks/clock_rounds.cc clocks/clock_sync.cc comm_facts.cc constants.cc datatype_contents.cc queries.cc rank_exchange.cc
  recorder_comm.cc shared_handles.cc window_memory.cc world.cc)
# By themselves: they have names in common with others.
set(mpi_runtime_apart clocks/clock_rounds.cc clocks/clock_sync.cc rank_exchange.cc)
# What needs no mpi.h, and what depends on ranks being processes.
set(mpi_runtime_common fortran_names.cc handle_map.cc)
set(mpi_runtime_processes clocks/clock.cc)
set(mpi_runtime_actors clocks/clock_smpi.cc)
foreach(list sources apart common processes actors)
  list(TRANSFORM mpi_runtime_${list} PREPEND ${CMAKE_SOURCE_DIR}/src/mpi_runtime/)
endforeach()
