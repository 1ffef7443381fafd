#include "replay/objects/with_nobody.h"

#include <dlfcn.h>

#include "mpi_runtime/handle_map.h"
#include "mpi_runtime/told_paths.h"
#include "replay/quiet.h"

namespace refrain::replay {

void tell_handle(uint64_t before, uint64_t now) {
  static const auto tell =
      reinterpret_cast<mpi_runtime::TellHandle>(dlsym(RTLD_DEFAULT, mpi_runtime::kTellHandle));
  if (tell != nullptr) tell(before, now);
}

void end_if_complete(uint64_t request) {
  auto handle = mpi_runtime::handle_of<MPI_Request>(request);
  int is_complete = 0;
  const int rc = REFRAIN_QUIET(MPI_Request_get_status)(handle, &is_complete, MPI_STATUS_IGNORE);
  if (rc == MPI_SUCCESS && is_complete != 0) REFRAIN_QUIET(MPI_Wait)(&handle, MPI_STATUS_IGNORE);
}

bool WithNobody::are_named(MPI_Comm own) {
  static const bool named = [own] {
    MPI_Request request = MPI_REQUEST_NULL;
    int index = MPI_UNDEFINED, flag = 0;
    REFRAIN_QUIET(MPI_Send_init)(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, own, &request);
    REFRAIN_QUIET(MPI_Start)(&request);
    REFRAIN_QUIET(MPI_Testany)(1, &request, &index, &flag, MPI_STATUS_IGNORE);
    if (index == MPI_UNDEFINED) REFRAIN_QUIET(MPI_Wait)(&request, MPI_STATUS_IGNORE);
    REFRAIN_QUIET(MPI_Request_free)(&request);
    return index == 0;
  }();
  return named;
}

uint64_t WithNobody::stand_for(uint64_t request, MPI_Comm own) {
  MPI_Request stands = MPI_REQUEST_NULL;
  REFRAIN_QUIET(MPI_Recv_init)(nullptr, 0, MPI_BYTE, 0, kTag, own, &stands);
  REFRAIN_QUIET(MPI_Start)(&stands);
  REFRAIN_QUIET(MPI_Send)(nullptr, 0, MPI_BYTE, 0, kTag, own);
  for (int is_there = 0; is_there == 0;)
    REFRAIN_QUIET(MPI_Request_get_status)(stands, &is_there, MPI_STATUS_IGNORE);
  pairs_.push_back({request, mpi_runtime::handle_key(stands)});
  tell_handle(request, pairs_.back().stands);
  return pairs_.back().stands;
}

WithNobody::~WithNobody() {
  for (const Pair& pair : pairs_) {
    auto request = mpi_runtime::handle_of<MPI_Request>(pair.request);
    auto stands = mpi_runtime::handle_of<MPI_Request>(pair.stands);
    REFRAIN_QUIET(MPI_Wait)(&request, MPI_STATUS_IGNORE);
    REFRAIN_QUIET(MPI_Request_free)(&stands);
    tell_handle(pair.stands, pair.request);
  }
}

}  // namespace refrain::replay
