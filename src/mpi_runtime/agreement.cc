#include "mpi_runtime/agreement.h"

#include <mpi.h>

#include "mpi_runtime/comm_facts.h"
#include "mpi_runtime/handle_map.h"
#include "mpi_runtime/rank_comm.h"
#include "mpi_runtime/world_group.h"
#include "real_functions.h"

namespace refrain::mpi_runtime {

namespace {

uint64_t combine(Agreement::By by, uint64_t a, uint64_t b) {
  if (by == Agreement::By::kOr) return a | b;
  if (by == Agreement::By::kAnd) return a & b;
  return a > b ? a : b;
}

MPI_Op operation(Agreement::By by) {
  if (by == Agreement::By::kOr) return MPI_BOR;
  return by == Agreement::By::kAnd ? MPI_BAND : MPI_MAX;
}

}  // namespace

Agreement::Agreement(uint64_t comm, const CommFacts& facts)
    : comm_(comm),
      inter_(facts.inter),
      alone_(!facts.inter && facts.size == 1),
      leads_(facts.rank == 0) {}

Agreement::Agreement(uint64_t comm, const CommFacts& facts, const Insiders& insiders)
    : Agreement(comm, facts) {
  inter_ = false;
  alone_ = true;
  const std::vector<int>& own = insiders.own;
  leads_ = own.empty() || own.front() == insiders.rank;
  if (own.size() < 2 || insiders.recorders.comm == MPI_COMM_NULL) return;
  constexpr int kTag = 1;
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm made = MPI_COMM_NULL;
  REFRAIN_REAL(PMPI_Group_incl)
  (insiders.world.group, static_cast<int>(own.size()), own.data(), &group);
  is_mine_ = REFRAIN_REAL(PMPI_Comm_create_group)(insiders.recorders.comm, group, kTag, &made) ==
             MPI_SUCCESS;
  REFRAIN_REAL(PMPI_Group_free)(&group);
  if (is_mine_) comm_ = handle_key(made);
  alone_ = !is_mine_;
}

Agreement::~Agreement() {
  auto comm = handle_of<MPI_Comm>(comm_);
  if (is_mine_) REFRAIN_REAL(PMPI_Comm_free)(&comm);
}

void Agreement::reduce(uint64_t* values, int n, By by) const {
  if (alone_) return;
  const auto allreduce = REFRAIN_REAL(PMPI_Allreduce);
  const auto comm = handle_of<MPI_Comm>(comm_);
  const MPI_Op op = operation(by);
  uint64_t out[kMost];
  allreduce(values, out, n, MPI_UINT64_T, op, comm);
  if (inter_) {
    allreduce(out, values, n, MPI_UINT64_T, op, comm);
    uint64_t both[kMost];
    for (int i = 0; i < n; ++i) both[i] = combine(by, values[i], out[i]);
    for (int i = 0; i < n; ++i) values[i] = both[i];
  } else {
    for (int i = 0; i < n; ++i) values[i] = out[i];
  }
}

}  // namespace refrain::mpi_runtime
