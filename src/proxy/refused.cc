#include "proxy/refused.h"

#include "events/refusals.h"
#include "mpi/call_ids.h"
#include "mpi/call_table.h"

namespace refrain::proxy {
namespace {

struct Own {
  CallId call;
  std::string_view why;
};
// Beyond what spec/mpi/calls refuses for everybody.
constexpr Own kOwn[] = {
    {mpi::kMPI_Request_get_status_all, "a proxy does not look at several requests"},
    {mpi::kMPI_Request_get_status_any, "a proxy does not look at several requests"},
    {mpi::kMPI_Request_get_status_some, "a proxy does not look at several requests"},
    {mpi::kMPI_Comm_spawn, "what the started processes did is in traces of their own"},
    {mpi::kMPI_Comm_spawn_multiple, "what the started processes did is in traces of their own"},
    {mpi::kMPI_Type_get_value_index, "its type is one of a pair"},
    {mpi::kMPI_Buffer_flush, "a proxy does not ask for it"},
};

// Functions of the newest standards, which few MPIs have: rows of spec/mpi/calls whose numbers
// stand together.
struct Few {
  CallId first, last;
};
constexpr Few kFew[] = {{mpi::kMPI_Buffer_flush, mpi::kMPI_Session_iflush_buffer},
                        {mpi::kMPI_Abi_get_version, mpi::kMPI_Abi_set_fortran_booleans}};

// Extensions of one MPI. Those that make persistent collectives are older names of functions of the
// standard.
bool is_extension(const mpi::CallInfo& info) {
  return info.name.starts_with("MPIX_") && info.group != mpi::CallGroup::kPersist;
}

}  // namespace

bool is_mark(CallId call) {
  const mpi::CallInfo* info = mpi::find_call(call);
  return info != nullptr && info->group == mpi::CallGroup::kMark;
}

std::string asks_only(CallId call) {
  const mpi::CallInfo* info = mpi::find_call(call);
  if (info == nullptr || !events::why_never_made(call).empty()) return {};
  if (info->group == mpi::CallGroup::kTool) return "it asks MPI about itself";
  const bool is_of_fortran = info->name.ends_with("_f2c") || info->name.ends_with("_c2f") ||
                             (call >= mpi::kMPI_Status_c2f && call <= mpi::kMPI_Status_f2f08);
  if (is_of_fortran) return "it writes a handle or a status in another way";
  if (call == mpi::kMPI_Aint_add || call == mpi::kMPI_Aint_diff)
    return "it calculates with addresses of the program";
  return {};
}

std::string refused(CallId call) {
  if (is_mark(call) || !asks_only(call).empty()) return {};
  const mpi::CallInfo* info = mpi::find_call(call);
  if (std::string why = events::why_never_made(call); !why.empty() || info == nullptr) return why;
  // The form with large counts has a number 1000 higher.
  const auto plain = static_cast<CallId>(call >= 1000 ? call - 1000 : call);
  for (const Own& one : kOwn)
    if (one.call == plain) return std::string(one.why);
  const bool gives_handle =
      info->return_kind != "error" && info->return_kind != "int" && info->return_kind != "logical";
  if (gives_handle) return "it gives a handle or an address of the program";
  if (is_extension(*info)) return "few MPIs have it";
  for (const Few& one : kFew)
    if (plain >= one.first && plain <= one.last) return "few MPIs have it";
  return {};
}

}  // namespace refrain::proxy
