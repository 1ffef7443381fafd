#include "mpi_runtime/recorder_comm.h"

#include <mpi.h>

#include "mpi_runtime/patience.h"
#include "mpi_runtime/rank_comm.h"
#include "mpi_runtime/rank_exchange.h"
#include "real_functions.h"

namespace refrain::mpi_runtime {

#ifndef REFRAIN_SMPI

namespace {

// The greatest among all of MPI_COMM_WORLD, in MPI_Init, where the program uses it not yet: begins,
// and the ranks may do something else together until they ask for the end. MPI libraries bring both
// on.
class GreatestOfWorld {
 public:
  GreatestOfWorld(uint64_t* values, int count)  // `values` stays
      : began_(REFRAIN_REAL(PMPI_Iallreduce)(MPI_IN_PLACE, values, count, MPI_UINT64_T, MPI_MAX,
                                             MPI_COMM_WORLD, &request_) == MPI_SUCCESS) {}
  bool wait() { return began_ && wait_patiently(request_) == MPI_SUCCESS; }

 private:
  MPI_Request request_ = MPI_REQUEST_NULL;
  bool began_;
};

}  // namespace

// Both at once, as each takes several rounds.
bool make_comm_of_all(RankComm* comm, uint64_t* words, int count) {
  GreatestOfWorld greatest(words, count);
  const bool good = dup_patiently(MPI_COMM_WORLD, &comm->comm);
  return greatest.wait() && good;
}

bool make_comm_of(const std::vector<int>& ranks, RankComm* comm, uint64_t* words, int count) {
  constexpr int kGroupTag = 0;
  if (ranks.size() == 1)
    return REFRAIN_REAL(PMPI_Comm_dup)(MPI_COMM_SELF, &comm->comm) == MPI_SUCCESS;
  MPI_Group world = MPI_GROUP_NULL, group = MPI_GROUP_NULL;
  if (REFRAIN_REAL(PMPI_Comm_group)(MPI_COMM_WORLD, &world) != MPI_SUCCESS) return false;
  const int made =
      REFRAIN_REAL(PMPI_Group_incl)(world, static_cast<int>(ranks.size()), ranks.data(), &group);
  REFRAIN_REAL(PMPI_Group_free)(&world);
  if (made != MPI_SUCCESS) return false;
  const int rc =
      REFRAIN_REAL(PMPI_Comm_create_group)(MPI_COMM_WORLD, group, kGroupTag, &comm->comm);
  REFRAIN_REAL(PMPI_Group_free)(&group);
  return rc == MPI_SUCCESS && comm->comm != MPI_COMM_NULL && greatest_of_all(*comm, words, count);
}

#else

bool make_comm_of_all(RankComm* comm, uint64_t*, int) {
  return REFRAIN_REAL(PMPI_Comm_dup)(MPI_COMM_WORLD, &comm->comm) == MPI_SUCCESS;
}

bool make_comm_of(const std::vector<int>&, RankComm*, uint64_t*, int) { return false; }

#endif

void set_null(RankComm* comm) { comm->comm = MPI_COMM_NULL; }

void be_ready_to_abort() { REFRAIN_REAL(PMPI_Abort); }

void abort_world() { REFRAIN_REAL(PMPI_Abort)(MPI_COMM_WORLD, 1); }

}  // namespace refrain::mpi_runtime
