#include "mpi_runtime/queries.h"

#include <dlfcn.h>

#include "real_functions.h"

namespace refrain::mpi_runtime {

#ifndef REFRAIN_SMPI  // which spawns nothing
bool has_parent() {
  MPI_Comm parent = MPI_COMM_NULL;
  return REFRAIN_REAL(PMPI_Comm_get_parent)(&parent) == MPI_SUCCESS && parent != MPI_COMM_NULL;
}
#else
bool has_parent() { return false; }
#endif

int error_class(int rc) {
  int c = rc;
  return REFRAIN_REAL(PMPI_Error_class)(rc, &c) == MPI_SUCCESS ? c : rc;
}

int64_t local_size(MPI_Comm comm) {
  int size = 0;
  return REFRAIN_REAL(PMPI_Comm_size)(comm, &size) == MPI_SUCCESS ? size : 0;
}

int64_t graph_nodes(MPI_Comm comm) {
  int nodes = 0, edges = 0;
  return REFRAIN_REAL(PMPI_Graphdims_get)(comm, &nodes, &edges) == MPI_SUCCESS ? nodes : 0;
}

int64_t graph_edges(MPI_Comm comm) {
  int nodes = 0, edges = 0;
  return REFRAIN_REAL(PMPI_Graphdims_get)(comm, &nodes, &edges) == MPI_SUCCESS ? edges : 0;
}

int64_t graph_degree(MPI_Comm comm, int rank) {
  int degree = 0;
  return REFRAIN_REAL(PMPI_Graph_neighbors_count)(comm, rank, &degree) == MPI_SUCCESS ? degree : 0;
}

// The library that runs may be older than the mpi.h of the build.
bool has_large_contents() {
  static const bool has = dlsym(RTLD_NEXT, "PMPI_Type_get_contents_c") != nullptr;
  return has;
}

namespace {

struct Envelope {
  int64_t integers = 0, addresses = 0, large_counts = 0, datatypes = 0;
};

// With the counts that the large-count functions report where there are such functions.
Envelope large_envelope(MPI_Datatype type) {
#ifdef REFRAIN_HAS_MPI_Type_get_envelope_c
  MPI_Count integers = 0, addresses = 0, large = 0, datatypes = 0;
  int combiner = 0;
  if (has_large_contents() &&
      REFRAIN_REAL(PMPI_Type_get_envelope_c)(type, &integers, &addresses, &large, &datatypes,
                                             &combiner) == MPI_SUCCESS)
    return {integers, addresses, large, datatypes};
#else
  (void)type;
#endif
  return {};
}

Envelope envelope(MPI_Datatype type) {
  int integers = 0, addresses = 0, datatypes = 0, combiner = 0;
  if (REFRAIN_REAL(PMPI_Type_get_envelope)(type, &integers, &addresses, &datatypes, &combiner) ==
      MPI_SUCCESS)
    return {integers, addresses, 0, datatypes};
  return large_envelope(type);
}

}  // namespace

int64_t envelope_integers(MPI_Datatype type) { return envelope(type).integers; }
int64_t envelope_addresses(MPI_Datatype type) { return envelope(type).addresses; }
int64_t envelope_datatypes(MPI_Datatype type) { return envelope(type).datatypes; }
int64_t envelope_large_counts(MPI_Datatype type) { return large_envelope(type).large_counts; }

std::optional<uint64_t> size_of_type(MPI_Datatype type) {
#ifndef REFRAIN_SMPI
  MPI_Count size = 0;
  if (REFRAIN_REAL(PMPI_Type_size_x)(type, &size) != MPI_SUCCESS || size < 0) return std::nullopt;
#else
  int size = 0;
  if (REFRAIN_REAL(PMPI_Type_size)(type, &size) != MPI_SUCCESS || size < 0) return std::nullopt;
#endif
  return static_cast<uint64_t>(size);
}

std::optional<uint64_t> received_bytes(const MPI_Status& status) {
  MPI_Status copy = status;  // not every MPI takes a const one
#ifndef REFRAIN_SMPI         // which declares it, and ends the program there
  MPI_Count bytes = 0;
  if (REFRAIN_REAL(PMPI_Get_elements_x)(&copy, MPI_BYTE, &bytes) != MPI_SUCCESS)
    return std::nullopt;
#else
  int bytes = 0;
  if (REFRAIN_REAL(PMPI_Get_count)(&copy, MPI_BYTE, &bytes) != MPI_SUCCESS) return std::nullopt;
#endif
  if (bytes == MPI_UNDEFINED || bytes < 0) return std::nullopt;
  return static_cast<uint64_t>(bytes);
}

bool is_cancelled(const MPI_Status& status) {
  int flag = 0;
  return REFRAIN_REAL(PMPI_Test_cancelled)(&status, &flag) == MPI_SUCCESS && flag != 0;
}

}  // namespace refrain::mpi_runtime
