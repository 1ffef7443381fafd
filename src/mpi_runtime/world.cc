#include "mpi_runtime/world.h"

#include <mpi.h>

#include "mpi_runtime/rank_comm.h"
#include "mpi_runtime/world_group.h"
#include "real_functions.h"

namespace refrain::mpi_runtime {

bool is_initialized() {
  int began = 0;
  return REFRAIN_REAL(PMPI_Initialized)(&began) == MPI_SUCCESS && began != 0;
}

void learn_world(int* rank, int* size, WorldGroup* group) {
  REFRAIN_REAL(PMPI_Comm_rank)(MPI_COMM_WORLD, rank);
  REFRAIN_REAL(PMPI_Comm_size)(MPI_COMM_WORLD, size);
  free_group(group);
  REFRAIN_REAL(PMPI_Comm_group)(MPI_COMM_WORLD, &group->group);
}

void return_errors(const RankComm& comm) {
  REFRAIN_REAL(PMPI_Comm_set_errhandler)(comm.comm, MPI_ERRORS_RETURN);
}

void free_comm(RankComm* comm) { REFRAIN_REAL(PMPI_Comm_free)(&comm->comm); }

void free_group(WorldGroup* group) {
  if (group->group != MPI_GROUP_NULL) REFRAIN_REAL(PMPI_Group_free)(&group->group);
}

#ifndef REFRAIN_SMPI

namespace {

void (*g_in_finalize)() = nullptr;

int attribute_goes(MPI_Comm, int, void*, void*) {
  g_in_finalize();
  return MPI_SUCCESS;
}

}  // namespace

// MPI_Finalize first deletes the attributes of MPI_COMM_SELF, the latest first, while MPI still
// works: programs hang what they have to do at the end there. Ours is the first one that is set, so
// theirs are over, and recorded, when it is deleted.
bool call_in_finalize(void (*function)()) {
  g_in_finalize = function;
  int key = MPI_KEYVAL_INVALID;
  if (REFRAIN_REAL(PMPI_Comm_create_keyval)(MPI_COMM_NULL_COPY_FN, attribute_goes, &key, nullptr) !=
      MPI_SUCCESS)
    return false;
  const int rc = REFRAIN_REAL(PMPI_Comm_set_attr)(MPI_COMM_SELF, key, nullptr);
  REFRAIN_REAL(PMPI_Comm_free_keyval)(&key);
  return rc == MPI_SUCCESS;
}

#else

// MPI_Finalize does not: what callbacks do in there is not recorded.
bool call_in_finalize(void (*)()) { return false; }

#endif

}  // namespace refrain::mpi_runtime
