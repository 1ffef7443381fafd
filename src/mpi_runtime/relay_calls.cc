#include "mpi_runtime/relay_calls.h"

#include <mpi.h>
#include <unistd.h>

namespace refrain::mpi_runtime {

bool begin_mpi() { return MPI_Init(nullptr, nullptr) == MPI_SUCCESS; }

void abort_without_world(int status) {
#if MPI_VERSION >= 4
  MPI_Session session;
  MPI_Group group;
  MPI_Comm self;
  if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS &&
      MPI_Group_from_session_pset(session, "mpi://SELF", &group) == MPI_SUCCESS &&
      MPI_Comm_create_from_group(group, "refrain", MPI_INFO_NULL, MPI_ERRORS_RETURN, &self) ==
          MPI_SUCCESS)
    MPI_Abort(self, status);
#endif
  _exit(status);
}

void learn_job(int* rank, int* size) {
  MPI_Comm_rank(MPI_COMM_WORLD, rank);
  MPI_Comm_size(MPI_COMM_WORLD, size);
}

ProgramNews program_news() {
  int flag = 0;
  MPI_Status status;
  if (MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status) != MPI_SUCCESS ||
      flag == 0)
    return ProgramNews::kNone;
  if (MPI_Recv(nullptr, 0, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE) != MPI_SUCCESS)
    return ProgramNews::kNone;
  return status.MPI_TAG == kProgramEndsTag ? ProgramNews::kEnds : ProgramNews::kIsEnding;
}

bool join_split(const LivePartitions& found) {
  MPI_Comm comm = MPI_COMM_NULL;
  return MPI_Comm_split(MPI_COMM_WORLD, MPI_UNDEFINED, found.rank, &comm) == MPI_SUCCESS;
}

void end_mpi() { MPI_Finalize(); }

void abort_job(int status) { MPI_Abort(MPI_COMM_WORLD, status); }

}  // namespace refrain::mpi_runtime
