// The library behind mpi_extra.h. Its name begins with libmpi_, as that of a part of an MPI does,
// and it calls MPI by its public names, as ROMIO does inside of MPICH: none of that is the
// program's.
#include "mpi_extra.h"

int MPIX_Extra_comm(MPI_Comm comm, MPI_Comm* newcomm) {
  MPI_Barrier(comm);
  return MPI_Comm_dup(comm, newcomm);
}

int MPIX_Extra_comm_free(MPI_Comm* comm) { return MPI_Comm_free(comm); }
int PMPIX_Extra_comm_free(MPI_Comm* comm) { return MPI_Comm_free(comm); }

int MPIX_Extra_type(int count, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  const int rc = MPI_Type_contiguous(count, oldtype, newtype);
  return rc == MPI_SUCCESS ? MPI_Type_commit(newtype) : rc;
}

int MPIX_Extra_isend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
                     MPI_Comm comm, MPI_Request* request) {
  return MPI_Isend(buf, count, datatype, dest, tag, comm, request);
}

int MPIX_Extra_waitall(int count, MPI_Request array_of_requests[], MPI_Status* array_of_statuses) {
  return MPI_Waitall(count, array_of_requests, array_of_statuses);
}

void MPIX_Extra_nothing(void) {}
double MPIX_Extra_half(double value) { return value / 2; }
int MPIX_Extra_talk(int level, ...) { return level; }
