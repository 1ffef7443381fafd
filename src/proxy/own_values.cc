// Parameters that are others in each run: paths, ports, memory of windows, statuses.
#include <fmt/format.h>

#include <string>

#include "mpi/call_ids.h"
#include "proxy/calls.h"
#include "proxy/literals.h"

namespace refrain::proxy {

namespace {

using format::Field;
using format::FieldTag;

}  // namespace

// Paths are none of the recorded ones.
void Calls::replace_texts(const Site& site, const Signature& decoded, Statement& out) {
  const int name = arguments_.find(site, "filename");
  if (name < 0) return;
  const Field& f = arguments_.field(site, static_cast<size_t>(name));
  const auto known =
      pools_.files.try_emplace(std::string(f.text), static_cast<int>(pools_.files.size()));
  const Value* mode = decoded.find("amode");
  bool makes = false;  // else it is there, for a call that opens or removes it
  if (mode != nullptr) {
    makes = mode->name() == "MPI_MODE_CREATE";
    for (const Value& bit : mode->items) makes = makes || bit.name() == "MPI_MODE_CREATE";
  }
  out.arguments[static_cast<size_t>(name)] =
      fmt::format("scratch({}, {})", known.first->second, makes ? "false" : "true");
}

// A port has another name each time: those that the program opens are found in files.
void Calls::name_ports(const Site& site, const Signature& decoded, Statement& out) {
  const int at = arguments_.find(site, "port_name");
  if (at < 0) return;
  const CallId id = site.call->info->id;
  Argument& name = out.arguments[static_cast<size_t>(at)];
  if (const int service = arguments_.find(site, "service_name"); service >= 0)
    out.arguments[static_cast<size_t>(service)] =
        quoted("proxy of " + std::string(decoded.find("service_name")->text));
  if (id == mpi::kMPI_Lookup_name) {
    name = "port_room()";
    return;
  }
  const Value* recorded = decoded.find("port_name");
  const auto known = recorded == nullptr ? ports_.end() : ports_.find(std::string(recorded->text));
  if (id == mpi::kMPI_Open_port) {
    if (has_sessions_first_) problems_.try_emplace(out.function, "it is called without MPI_Init");
    name = "port_room()";
    if (known != ports_.end()) out.behind.push_back(fmt::format("tell_port({});", known->second));
  } else if (known != ports_.end()) {
    name = Argument(fmt::format("port({})", known->second));
  } else if (id == mpi::kMPI_Comm_accept || id == mpi::kMPI_Comm_connect ||
             id == mpi::kMPI_Close_port) {
    if (recorded != nullptr && !recorded->text.empty())
      problems_.try_emplace(out.function, "no call of the trace opens its port");
    name = "\"\"";
  }
}

// Memory of dynamic windows stands where that of the recorded run stood, moved to a place that is
// empty: who accesses it knows the address (events/buffers/attached.h).
void Calls::place_memory(const Site& site, const Signature& decoded, const std::string& attached,
                         Statement& out) {
  const Value* base = decoded.find("base");
  if (base == nullptr || base->kind == ValueKind::kConstant) return;
  const std::string key = fmt::format("{} {} {} {}", arguments_.text(site, out.arguments[0]),
                                      base->id, base->number, base->offset);
  const int number = attached_.try_emplace(key, static_cast<int>(attached_.size())).first->second;
  if (site.call->info->id == mpi::kMPI_Win_detach)
    out.arguments[1] = Argument(fmt::format("detached({})", number));
  else
    out.arguments[1] = Argument(
        fmt::format("{}.next({}, {})", attached, number, arguments_.text(site, out.arguments[2])));
  out.arguments[1].is_simple = false;
}

// A status that a call looks at is one of the recorded program, and one that it writes is as well.
void Calls::replace_status(const Site& site, const Signature& decoded, Statement& out) {
  const CallId id = site.call->info->id;
  const CallId plain = static_cast<CallId>(id >= 1000 ? id - 1000 : id);
  const bool is_count = plain == mpi::kMPI_Get_count || plain == mpi::kMPI_Get_elements ||
                        plain == mpi::kMPI_Get_elements_x;
  const bool is_set = plain == mpi::kMPI_Status_set_cancelled ||
                      plain == mpi::kMPI_Status_set_elements ||
                      plain == mpi::kMPI_Status_set_elements_x ||
                      (plain >= mpi::kMPI_Status_set_error && plain <= mpi::kMPI_Status_set_tag);
  if (!is_count && !is_set && id != mpi::kMPI_Test_cancelled) return;
  const Field& f = arguments_.field(site, 0);
  std::string source = "MPI_ANY_SOURCE", tag = "MPI_ANY_TAG";
  if (f.tag == FieldTag::kStatus || f.tag == FieldTag::kStatusError) {
    source = arguments_.text(site, arguments_.number(site, f.children[0]));
    tag = arguments_.text(site, arguments_.number(site, f.children[1]));
  }
  std::string type = "MPI_DATATYPE_NULL";
  int64_t count = -1;
  if (is_count) {
    type = arguments_.text(site, out.arguments[1]);
    if (const Value* v = decoded.find("count")) count = v->integer_or(-1);
  }
  const bool is_elements = is_count && plain != mpi::kMPI_Get_count;
  const bool is_cancelled = !is_count && !is_set && has_flag(decoded);
  out.arguments[0] = fmt::format("recorded_status({}, {}, {}, {}, {}, {})", source, tag, type,
                                 count, is_elements, is_cancelled ? 1 : 0);
}

}  // namespace refrain::proxy
