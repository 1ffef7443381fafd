// MPI_Init, MPI_Init_thread and MPI_Finalize, with the coupling behind and before them. All else of
// MPI is MPI's.
#include <mpi.h>

#include "stream/mpi/coupling.h"

extern "C" {

int MPI_Init(int* argc, char*** argv) {
  const int error = PMPI_Init(argc, argv);
  if (error == MPI_SUCCESS) static_cast<void>(refrain_coupling_start());
  return error;
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int error = PMPI_Init_thread(argc, argv, required, provided);
  if (error == MPI_SUCCESS) static_cast<void>(refrain_coupling_start());
  return error;
}

int MPI_Finalize(void) {
  refrain::stream::end_coupling();
  return PMPI_Finalize();
}

}  // extern "C"
