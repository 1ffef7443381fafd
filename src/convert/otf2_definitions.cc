#include "convert/otf2_definitions.h"

#include <tuple>

#include "events/by_rank/comm_ranks.h"
#include "format/trace_data.h"
#include "mpi/call_meaning.h"
#include "mpi/call_name.h"
#include "reader/internal.h"
#include "text/escape.h"

namespace refrain::convert {
namespace {

constexpr OTF2_GroupRef kWorldLocations = 0;

OTF2_RegionRole role_of(mpi::Flow flow) {
  switch (flow) {
    case mpi::Flow::kNothing: return OTF2_REGION_ROLE_FUNCTION;  // MPI_Reduce_local
    case mpi::Flow::kBarrier: return OTF2_REGION_ROLE_BARRIER;
    case mpi::Flow::kFromRoot: return OTF2_REGION_ROLE_COLL_ONE2ALL;
    case mpi::Flow::kToRoot: return OTF2_REGION_ROLE_COLL_ALL2ONE;
    case mpi::Flow::kScan: return OTF2_REGION_ROLE_COLL_OTHER;
    default: return OTF2_REGION_ROLE_COLL_ALL2ALL;
  }
}

OTF2_RegionRole role_of(const mpi::CallInfo& info) {
  using mpi::CallGroup;
  switch (info.group) {
    case CallGroup::kP2p:
    case CallGroup::kPersist:
    case CallGroup::kCompletion: return OTF2_REGION_ROLE_POINT2POINT;
    case CallGroup::kColl: return role_of(mpi::meaning_of(info.id).flow);
    case CallGroup::kRma: return OTF2_REGION_ROLE_RMA;
    case CallGroup::kIo: return OTF2_REGION_ROLE_FILE_IO;
    default: return OTF2_REGION_ROLE_FUNCTION;
  }
}

}  // namespace

OTF2_StringRef OtfDefinitions::string(std::string_view text) {
  const auto [known, is_new] =
      strings_.try_emplace(std::string(text), static_cast<OTF2_StringRef>(texts_.size()));
  if (!is_new) return known->second;
  texts_.push_back(&known->first);
  if (writer_ != nullptr) write_string(known->second);
  return known->second;
}

OTF2_RegionRef OtfDefinitions::region(uint32_t what) {
  const auto [known, is_new] =
      region_ids_.try_emplace(what, static_cast<OTF2_RegionRef>(regions_used_.size()));
  if (is_new) regions_used_.push_back(what);
  return known->second;
}

// All ranks' MPI_COMM_SELF are one communicator in OTF2.
OTF2_CommRef OtfDefinitions::comm(const events::CommView& view) {
  const bool is_self = view.comm.name == "MPI_COMM_SELF";
  const events::CommKey key = is_self ? events::kNoComm : view.key;
  const auto [known, is_new] = comm_ids_.try_emplace(key, static_cast<OTF2_CommRef>(comms_.size()));
  if (!is_new) return known->second;
  std::string name(view.comm.name);
  if (name.empty())
    name = view.comm.definition == kNoDefinition ? "MPI_COMM_WORLD"
                                                 : job_.trace.object_name(view.comm.definition);
  comms_.push_back({is_self, view.comm, std::move(name)});
  return known->second;
}

void OtfDefinitions::name_comm(const events::CommView& view, std::string_view name) {
  if (!name.empty()) comms_[comm(view)].name = text::printable(name);
}

OTF2_RmaWinRef OtfDefinitions::window(const events::CommView& view, Rank self, uint64_t number) {
  const OTF2_CommRef id = comm(view);
  const auto [known, is_new] = windows_.try_emplace(
      {id, view.is_self ? self : -1, number}, static_cast<OTF2_RmaWinRef>(window_comms_.size()));
  if (is_new) window_comms_.push_back(id);
  return known->second;
}

OTF2_IoHandleRef OtfDefinitions::file(const events::CommView& view, std::string_view name) {
  const File file(comm(view), text::printable(name));
  const auto [known, is_new] =
      files_.try_emplace(file, static_cast<OTF2_IoHandleRef>(files_used_.size()));
  if (is_new) files_used_.push_back(file);
  return known->second;
}

uint32_t OtfDefinitions::instance(std::string_view name) {
  const auto [known, is_new] =
      instances_.try_emplace(text::printable(name), static_cast<uint32_t>(instances_used_.size()));
  if (is_new) instances_used_.push_back(known->first);
  return known->second;
}

bool OtfDefinitions::write(OTF2_GlobalDefWriter* writer, const std::vector<OtfLocation>& locations,
                           uint64_t first_ns, uint64_t last_ns) {
  writer_ = writer;
  const bool clock = good(OTF2_GlobalDefWriter_WriteClockProperties(
      writer, 1'000'000'000, first_ns, last_ns - first_ns + 1, OTF2_UNDEFINED_TIMESTAMP));
  for (size_t i = 0; i < texts_.size(); ++i) write_string(static_cast<OTF2_StringRef>(i));
  return clock && write_locations(locations) && write_regions() && write_comms() && write_rest() &&
         strings_are_good_;
}

void OtfDefinitions::write_string(OTF2_StringRef id) {
  strings_are_good_ =
      good(OTF2_GlobalDefWriter_WriteString(writer_, id, texts_[id]->c_str())) && strings_are_good_;
}

bool OtfDefinitions::write_locations(const std::vector<OtfLocation>& locations) {
  const format::Meta& meta = reader::data_of(job_.trace).meta;
  bool ok = good(OTF2_GlobalDefWriter_WriteSystemTreeNode(
      writer_, 0, string("machine"), string("machine"), OTF2_UNDEFINED_SYSTEM_TREE_NODE));
  for (size_t i = 0; i < meta.hosts.size(); ++i)
    ok = ok && good(OTF2_GlobalDefWriter_WriteSystemTreeNode(
                   writer_, static_cast<OTF2_SystemTreeNodeRef>(i + 1),
                   string(text::printable(meta.hosts[i])), string("node"), 0));
  std::vector<uint64_t> masters;
  Rank last = -1;
  for (const OtfLocation& location : locations) {
    const auto group = static_cast<OTF2_LocationGroupRef>(location.rank);
    if (location.rank != last) {
      last = location.rank;
      const int64_t host = meta.host_of_rank.at(static_cast<uint64_t>(location.rank));
      const bool known = host >= 0 && static_cast<size_t>(host) < meta.hosts.size();
      ok = ok && good(OTF2_GlobalDefWriter_WriteLocationGroup(
                     writer_, group, string("MPI Rank " + std::to_string(location.rank)),
                     OTF2_LOCATION_GROUP_TYPE_PROCESS,
                     known ? static_cast<OTF2_SystemTreeNodeRef>(host + 1) : 0,
                     OTF2_UNDEFINED_LOCATION_GROUP));
      masters.push_back(location.id);
    }
    const std::string name =
        location.thread == 0 ? "Master thread" : "Thread " + std::to_string(location.thread);
    ok = ok && good(OTF2_GlobalDefWriter_WriteLocation(writer_, location.id, string(name),
                                                       OTF2_LOCATION_TYPE_CPU_THREAD,
                                                       location.events, group));
  }
  return ok && good(OTF2_GlobalDefWriter_WriteGroup(
                   writer_, kWorldLocations, string("MPI ranks"), OTF2_GROUP_TYPE_COMM_LOCATIONS,
                   OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, static_cast<uint32_t>(masters.size()),
                   masters.data()));
}

bool OtfDefinitions::write_regions() {
  const auto region = [&](OTF2_RegionRef id, const std::string& name, OTF2_RegionRole role,
                          OTF2_Paradigm paradigm) {
    const OTF2_StringRef text = string(name);
    return good(OTF2_GlobalDefWriter_WriteRegion(writer_, id, text, text, string(""), role,
                                                 paradigm, OTF2_REGION_FLAG_NONE,
                                                 OTF2_UNDEFINED_STRING, 0, 0));
  };
  bool ok = true;
  for (OTF2_RegionRef id = 0; id < regions_used_.size(); ++id) {
    const uint32_t what = regions_used_[id];
    if (what >= kFirstUser) {
      ok = ok &&
           region(id, regions_.name(what - kFirstUser), OTF2_REGION_ROLE_CODE, OTF2_PARADIGM_USER);
      continue;
    }
    const mpi::CallInfo* info = mpi::find_call(static_cast<CallId>(what));
    const std::string name = mpi::call_name(static_cast<CallId>(what));
    OTF2_RegionRole role = OTF2_REGION_ROLE_FUNCTION;
    if (info != nullptr) role = role_of(*info);
    ok = ok && region(id, name, role, OTF2_PARADIGM_MPI);
  }
  const auto attribute = [&](OTF2_AttributeRef id, std::string_view name, std::string_view what,
                             OTF2_Type type) {
    ok = ok &&
         good(OTF2_GlobalDefWriter_WriteAttribute(writer_, id, string(name), string(what), type));
  };
  attribute(kSite, "site", "where in the program the call stands", OTF2_TYPE_STRING);
  attribute(kError, "error_class", "of a call that failed", OTF2_TYPE_STRING);
  attribute(kCount, "count", "elements of the message's datatype", OTF2_TYPE_UINT64);
  attribute(kDatatype, "datatype", "of the message", OTF2_TYPE_STRING);
  for (uint32_t id = 0; id < instances_used_.size(); ++id)
    ok = ok && good(OTF2_GlobalDefWriter_WriteParameter(writer_, id, string(instances_used_[id]),
                                                        OTF2_PARAMETER_TYPE_INT64));
  return ok;
}

// Ranks that are not of this world have no location: the group lacks them.
bool OtfDefinitions::write_group(OTF2_GroupRef id, const Communicator& comm) {
  std::vector<uint64_t> members;
  for (const Rank rank : events::members_of(comm)) members.push_back(static_cast<uint64_t>(rank));
  job_.not_held("members of communicators that are processes of another world",
                comm.size() + comm.remote_size() - members.size());
  job_.not_held("inter-communicators: they are communicators of both groups",
                comm.is_inter ? 1 : 0);
  return good(OTF2_GlobalDefWriter_WriteGroup(
      writer_, id, string(""), OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
      static_cast<uint32_t>(members.size()), members.data()));
}

bool OtfDefinitions::write_comms() {
  bool ok = true;
  for (size_t i = 0; ok && i < comms_.size(); ++i) {
    const Comm& comm = comms_[i];
    const auto id = static_cast<OTF2_CommRef>(i);
    const OTF2_GroupRef group = kWorldLocations + 1 + id;
    ok = comm.is_self ? good(OTF2_GlobalDefWriter_WriteGroup(
                            writer_, group, string(""), OTF2_GROUP_TYPE_COMM_SELF,
                            OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, 0, nullptr))
                      : write_group(group, comm.comm);
    ok = ok && good(OTF2_GlobalDefWriter_WriteComm(writer_, id, string(comm.name), group,
                                                   OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
  }
  return ok;
}

bool OtfDefinitions::write_rest() {
  bool ok = true;
  for (OTF2_RmaWinRef id = 0; id < window_comms_.size(); ++id)
    ok = ok &&
         good(OTF2_GlobalDefWriter_WriteRmaWin(writer_, id, string("window " + std::to_string(id)),
                                               window_comms_[id], OTF2_RMA_WIN_FLAG_NONE));
  if (files_.empty()) return ok;
  constexpr OTF2_IoParadigmRef kMpiIo = 0;
  ok = ok &&
       good(OTF2_GlobalDefWriter_WriteIoParadigm(
           writer_, kMpiIo, string("MPI-IO"), string("MPI-IO"), OTF2_IO_PARADIGM_CLASS_PARALLEL,
           OTF2_IO_PARADIGM_FLAG_NONE, 0, nullptr, nullptr, nullptr));
  for (OTF2_IoHandleRef id = 0; id < files_used_.size(); ++id) {
    const OTF2_StringRef name = string(files_used_[id].second);
    ok = ok &&
         good(OTF2_GlobalDefWriter_WriteIoRegularFile(writer_, id, name,
                                                      OTF2_UNDEFINED_SYSTEM_TREE_NODE)) &&
         good(OTF2_GlobalDefWriter_WriteIoHandle(writer_, id, name, id, kMpiIo,
                                                 OTF2_IO_HANDLE_FLAG_NONE, files_used_[id].first,
                                                 OTF2_UNDEFINED_IO_HANDLE));
  }
  return ok;
}

}  // namespace refrain::convert
