#include "mpi_runtime/shared_handles.h"

#include <mpi.h>

#include "mpi_runtime/handle_map.h"
#include "mpi_runtime/rank_comm.h"
#include "real_functions.h"

namespace refrain::mpi_runtime {

// Each twice: requests that are complete at once, of every kind that MPICH has a handle for.
void find_shared_handles(const RankComm& comm, const std::function<void(uint64_t)>& visit) {
  const auto learn = [&visit](auto make) {
    MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    for (MPI_Request& one : r) make(&one);
    if (r[0] == r[1] && r[0] != MPI_REQUEST_NULL) visit(handle_key(r[0]));
    REFRAIN_REAL(PMPI_Waitall)(2, r, MPI_STATUSES_IGNORE);
  };
  learn([&comm](MPI_Request* r) {
    REFRAIN_REAL(PMPI_Isend)(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, comm.comm, r);
  });
  learn([&comm](MPI_Request* r) {
    REFRAIN_REAL(PMPI_Irecv)(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, comm.comm, r);
  });
  learn([](MPI_Request* r) { REFRAIN_REAL(PMPI_Ibarrier)(MPI_COMM_SELF, r); });
}

}  // namespace refrain::mpi_runtime
