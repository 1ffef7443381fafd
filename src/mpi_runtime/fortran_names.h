// Functions that stand behind the recorder's under the names that Fortran has for MPI's.
//
// Compilers append an underscore, so MPI libraries have mpi_send_; they also have mpi_send and
// MPI_SEND, for those that do not. Such a name may be that of a function of the program, too: R's
// Rmpi has a C function mpi_comm_rank. The recorder's names come before those of all libraries, so
// it gets calls that were never MPI's.
#pragma once

namespace refrain::mpi_runtime {

// What the name leads to where the recorder is not in front: among the libraries that all others
// see, else in the first of those that were opened apart (RTLD_LOCAL). Null: nothing. Asks the
// loader, and so is for the first call of a function only.
void* find_behind_recorder(const char* name);

// The same where it is not what MPI has as `mpi_name`, by another name of the same function: a
// function of the program. Null: there is none.
void* find_of_program(const char* name, const char* mpi_name);

}  // namespace refrain::mpi_runtime
