#include "proxy/refused.h"

#include "mpi/call_meaning.h"
#include "mpi/call_table.h"

namespace refrain::proxy {
namespace {

struct Own {
  std::string_view name, why;
};
// Beyond what spec/mpi/calls refuses for everybody.
constexpr Own kOwn[] = {
    {"MPI_Grequest_start", "its functions are the program's"},
    {"MPI_Grequest_complete", "its request is a generalized one"},
    {"MPI_Register_datarep", "its functions are the program's"},
    {"MPI_Win_create_dynamic", "displacements in its window are addresses of another process"},
    {"MPI_Win_attach", "displacements in its window are addresses of another process"},
    {"MPI_Win_detach", "displacements in its window are addresses of another process"},
    {"MPI_Request_get_status_all", "a proxy does not look at several requests"},
    {"MPI_Request_get_status_any", "a proxy does not look at several requests"},
    {"MPI_Request_get_status_some", "a proxy does not look at several requests"},
    {"MPI_Comm_accept", "the other side of its port is another job"},
    {"MPI_Comm_connect", "the other side of its port is another job"},
    {"MPI_Open_port", "the other side of its port is another job"},
    {"MPI_Close_port", "the other side of its port is another job"},
    {"MPI_Publish_name", "the other side of its port is another job"},
    {"MPI_Unpublish_name", "the other side of its port is another job"},
    {"MPI_Lookup_name", "the other side of its port is another job"},
    {"MPI_Info_create_env", "it asks for the program's command line"},
    {"MPI_Comm_create_from_group", "its group is of a session"},
    {"MPI_Intercomm_create_from_groups", "its groups are of a session"},
    {"MPI_Group_from_session_pset", "its group is of a session"},
    {"MPI_Comm_idup", "the number of a communicator that a request makes is not known in time"},
    {"MPI_Comm_idup_with_info",
     "the number of a communicator that a request makes is not known in time"},
    {"MPI_Aint_add", "it calculates with addresses of the program"},
    {"MPI_Aint_diff", "it calculates with addresses of the program"},
    {"MPI_Type_get_value_index", "its type is one of a pair"},
    {"MPI_Status_set_elements", "its status is the program's own"},
    {"MPI_Status_set_elements_x", "its status is the program's own"},
    {"MPI_Status_set_cancelled", "its status is the program's own"},
    {"MPI_Status_get_source", "its status is the program's own"},
    {"MPI_Status_get_tag", "its status is the program's own"},
    {"MPI_Status_get_error", "its status is the program's own"},
    {"MPI_Status_set_source", "its status is the program's own"},
    {"MPI_Status_set_tag", "its status is the program's own"},
    {"MPI_Status_set_error", "its status is the program's own"},
    {"MPI_Buffer_flush", "a proxy does not ask for it"},
};

bool ends_with(std::string_view name, std::string_view end) {
  return name.size() >= end.size() && name.substr(name.size() - end.size()) == end;
}

}  // namespace

bool is_mark(CallId call) {
  const mpi::CallInfo* info = mpi::find_call(call);
  return info != nullptr &&
         (info->group == mpi::CallGroup::kMark || info->name.substr(0, 8) == "refrain_");
}

std::string refused(CallId call) {
  const mpi::CallInfo* info = mpi::find_call(call);
  if (info == nullptr) return "this version does not know it";
  if (is_mark(call)) return {};
  const mpi::CallMeaning& meaning = mpi::meaning_of(call);
  if (meaning.reissue == mpi::Reissue::kRefused) return std::string(meaning.refused);
  const std::string_view name = info->name;
  for (const Own& one : kOwn)
    if (one.name == name || (ends_with(name, "_c") && name.substr(0, name.size() - 2) == one.name))
      return std::string(one.why);
  if (info->group == mpi::CallGroup::kTool) return "its handles are of the tool interface";
  if (info->group == mpi::CallGroup::kSession || name.find("MPI_Session_") == 0)
    return "a proxy has no sessions";
  if (ends_with(name, "_f2c") || ends_with(name, "_fromint") || ends_with(name, "_toint") ||
      ends_with(name, "_c2f") || name.find("MPI_Status_") == 0)
    return "a number or a status of Fortran stands for an object";
  if (name.find("MPIX_") == 0 && !meaning.does_any(mpi::kDoesCollective))
    return "it is an extension of one MPI";
  if (name.find("MPI_Abi_") == 0 || name.find("MPI_Comm_attach_buffer") == 0 ||
      name.find("MPI_Comm_detach_buffer") == 0 || name.find("flush_buffer") != name.npos ||
      name.find("iflush") != name.npos)
    return "few MPIs have it";
  return {};
}

}  // namespace refrain::proxy
