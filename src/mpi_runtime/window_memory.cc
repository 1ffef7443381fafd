#include "mpi_runtime/window_memory.h"

#include <mpi.h>

#include "mpi_runtime/handle_map.h"
#include "real_functions.h"

namespace refrain::mpi_runtime {

void for_each_piece_of_window(uint64_t window,
                              const std::function<void(const void*, int64_t)>& visit) {
  const auto win = handle_of<MPI_Win>(window);
  const auto attribute = [win](int keyval) -> void* {
    void* value = nullptr;
    int flag = 0;
    const int rc = REFRAIN_REAL(PMPI_Win_get_attr)(win, keyval, &value, &flag);
    return rc == MPI_SUCCESS && flag != 0 ? value : nullptr;
  };
  const auto* flavor = static_cast<const int*>(attribute(MPI_WIN_CREATE_FLAVOR));
  if (flavor == nullptr) return;
  if (*flavor == MPI_WIN_FLAVOR_ALLOCATE) {
    const auto* bytes = static_cast<const MPI_Aint*>(attribute(MPI_WIN_SIZE));
    if (bytes != nullptr) visit(attribute(MPI_WIN_BASE), *bytes);
    return;
  }
  if (*flavor != MPI_WIN_FLAVOR_SHARED) return;
  MPI_Group group = MPI_GROUP_NULL;
  int ranks = 0;
  if (REFRAIN_REAL(PMPI_Win_get_group)(win, &group) != MPI_SUCCESS) return;
  REFRAIN_REAL(PMPI_Group_size)(group, &ranks);
  REFRAIN_REAL(PMPI_Group_free)(&group);
  for (int r = 0; r < ranks; ++r) {
    MPI_Aint bytes = 0;
    int unit = 0;
    void* base = nullptr;
    if (REFRAIN_REAL(PMPI_Win_shared_query)(win, r, &bytes, &unit, &base) == MPI_SUCCESS)
      visit(base, bytes);
  }
}

}  // namespace refrain::mpi_runtime
