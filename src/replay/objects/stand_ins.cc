#include "replay/objects/stand_ins.h"

#include <mpi.h>

#include "mpi/call_ids.h"
#include "mpi/call_meaning.h"
#include "mpi_runtime/handle_map.h"
#include "replay/quiet.h"

namespace refrain::replay {
namespace {

void no_reduction(void*, void*, int*, MPI_Datatype*) {}
void no_handling_comm(MPI_Comm*, int*, ...) {}
void no_handling_win(MPI_Win*, int*, ...) {}
void no_handling_file(MPI_File*, int*, ...) {}

int copy_comm(MPI_Comm, int, void*, void* in, void* out, int* flag) {
  *static_cast<void**>(out) = in;
  *flag = 1;
  return MPI_SUCCESS;
}
int delete_comm(MPI_Comm, int, void*, void*) { return MPI_SUCCESS; }
int copy_type(MPI_Datatype, int, void*, void* in, void* out, int* flag) {
  *static_cast<void**>(out) = in;
  *flag = 1;
  return MPI_SUCCESS;
}
int delete_type(MPI_Datatype, int, void*, void*) { return MPI_SUCCESS; }
int copy_win(MPI_Win, int, void*, void* in, void* out, int* flag) {
  *static_cast<void**>(out) = in;
  *flag = 1;
  return MPI_SUCCESS;
}
int delete_win(MPI_Win, int, void*, void*) { return MPI_SUCCESS; }

// What the program's own function had set by then.
int query_request(void* made, MPI_Status* status) {
  const int error = status->MPI_ERROR;
  *status = *static_cast<const MPI_Status*>(made);
  status->MPI_ERROR = error;
  return MPI_SUCCESS;
}
int free_request(void*) { return MPI_SUCCESS; }
int cancel_request(void*, int) { return MPI_SUCCESS; }

int extent_of(MPI_Datatype type, MPI_Aint* extent, void*) {
  MPI_Aint lower = 0;
  return REFRAIN_QUIET(MPI_Type_get_extent)(type, &lower, extent);
}

template <class F>
void* address_of(F* function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

void* stand_in(mpi::CallId call, std::string_view parameter) {
  switch (mpi::plain_call(call)) {
    case mpi::kMPI_Op_create: return address_of(no_reduction);
    case mpi::kMPI_Comm_create_errhandler:
    case mpi::kMPI_Errhandler_create:
    case mpi::kMPI_Session_create_errhandler: return address_of(no_handling_comm);
    case mpi::kMPI_Win_create_errhandler: return address_of(no_handling_win);
    case mpi::kMPI_File_create_errhandler: return address_of(no_handling_file);
    case mpi::kMPI_Comm_create_keyval:
      return parameter == "comm_copy_attr_fn" ? address_of(copy_comm) : address_of(delete_comm);
    case mpi::kMPI_Keyval_create:
      return parameter == "copy_fn" ? address_of(copy_comm) : address_of(delete_comm);
    case mpi::kMPI_Type_create_keyval:
      return parameter == "type_copy_attr_fn" ? address_of(copy_type) : address_of(delete_type);
    case mpi::kMPI_Win_create_keyval:
      return parameter == "win_copy_attr_fn" ? address_of(copy_win) : address_of(delete_win);
    case mpi::kMPI_Register_datarep:
      return parameter == "dtype_file_extent_fn" ? address_of(extent_of) : nullptr;
    case mpi::kMPI_Grequest_start:
      return parameter == "query_fn"  ? address_of(query_request)
             : parameter == "free_fn" ? address_of(free_request)
                                      : address_of(cancel_request);
    default: return nullptr;
  }
}

uint64_t null_request() { return mpi_runtime::handle_key(MPI_REQUEST_NULL); }

}  // namespace refrain::replay
