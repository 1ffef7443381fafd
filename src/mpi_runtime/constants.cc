#include <mpi.h>

#include "mpi_runtime/constants_table.h"
#include "mpi_runtime/handle_map.h"

namespace refrain::mpi_runtime {

uint32_t constant_of_undefined(int64_t value) {
  return value == MPI_UNDEFINED ? mpi::kConst_MPI_UNDEFINED : 0;
}

uint32_t constant_of_rank(int64_t value) {
  if (value == MPI_PROC_NULL) return mpi::kConst_MPI_PROC_NULL;
  if (value == MPI_ANY_SOURCE) return mpi::kConst_MPI_ANY_SOURCE;
  if (value == MPI_ROOT) return mpi::kConst_MPI_ROOT;
  return constant_of_undefined(value);
}

uint32_t constant_of_tag(int64_t value) {
  if (value == MPI_ANY_TAG) return mpi::kConst_MPI_ANY_TAG;
  return constant_of_undefined(value);  // in statuses of generalised requests
}

bool is_status_ignored(const void* status) { return status == MPI_STATUS_IGNORE; }

bool is_null_request(uint64_t request) { return request == handle_key(MPI_REQUEST_NULL); }

bool is_null_comm(uint64_t comm) { return comm == handle_key(MPI_COMM_NULL); }

bool is_null_datatype(uint64_t type) { return type == handle_key(MPI_DATATYPE_NULL); }

uint64_t comm_world_key() { return handle_key(MPI_COMM_WORLD); }

uint64_t comm_self_key() { return handle_key(MPI_COMM_SELF); }

bool is_wildcard(int source, int tag) { return source == MPI_ANY_SOURCE || tag == MPI_ANY_TAG; }

bool is_root_constant(int root) { return root == MPI_ROOT; }

}  // namespace refrain::mpi_runtime
