// Functions of an MPI that no table knows: what tests/unknown/ puts beside a real mpi.h.
#ifndef REFRAIN_TESTS_MPI_EXTRA_H_
#define REFRAIN_TESTS_MPI_EXTRA_H_

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

int MPIX_Extra_comm(MPI_Comm comm, MPI_Comm* newcomm);
int MPIX_Extra_comm_free(MPI_Comm* comm);
int PMPIX_Extra_comm_free(MPI_Comm* comm);
int MPIX_Extra_type(int count, MPI_Datatype oldtype, MPI_Datatype* newtype);
int MPIX_Extra_isend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
                     MPI_Comm comm, MPI_Request* request);
int MPIX_Extra_waitall(int count, MPI_Request array_of_requests[], MPI_Status* array_of_statuses);
void MPIX_Extra_nothing(void);
double MPIX_Extra_half(double value);
int MPIX_Extra_talk(int level, ...);

#ifdef __cplusplus
}
#endif

#endif  // REFRAIN_TESTS_MPI_EXTRA_H_
