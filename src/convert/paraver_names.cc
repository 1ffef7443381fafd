#include "convert/paraver_names.h"

#include <fmt/format.h>

#include <iterator>

#include "format/trace_data.h"
#include "mpi/call_ids.h"
#include "mpi/call_meaning.h"
#include "reader/internal.h"
#include "text/escape.h"

namespace refrain::convert {
namespace {

struct Known {
  CallId call;
  uint32_t value;
};
constexpr Known kExtrae[] = {
    {mpi::kMPI_Send, 1},       {mpi::kMPI_Recv, 2},       {mpi::kMPI_Isend, 3},
    {mpi::kMPI_Irecv, 4},      {mpi::kMPI_Wait, 5},       {mpi::kMPI_Waitall, 6},
    {mpi::kMPI_Bcast, 7},      {mpi::kMPI_Barrier, 8},    {mpi::kMPI_Reduce, 9},
    {mpi::kMPI_Allreduce, 10}, {mpi::kMPI_Alltoall, 11},  {mpi::kMPI_Alltoallv, 12},
    {mpi::kMPI_Gather, 13},    {mpi::kMPI_Gatherv, 14},   {mpi::kMPI_Scatter, 15},
    {mpi::kMPI_Scatterv, 16},  {mpi::kMPI_Allgather, 17}, {mpi::kMPI_Allgatherv, 18},
    {mpi::kMPI_Comm_rank, 19}, {mpi::kMPI_Comm_size, 20}, {mpi::kMPI_Init, 31},
    {mpi::kMPI_Finalize, 32}};
constexpr uint32_t kOurs = 1000;

struct State {
  uint32_t value;
  std::string_view name, colour;
};
constexpr State kStates[] = {{0, "Idle", "{117,195,255}"},
                             {1, "Running", "{0,0,255}"},
                             {3, "Waiting a message", "{255,0,0}"},
                             {4, "Blocking Send", "{255,0,174}"},
                             {5, "Synchronization", "{179,0,0}"},
                             {6, "Test/Probe", "{0,255,0}"},
                             {8, "Wait/WaitAll", "{235,0,0}"},
                             {10, "Immediate Send", "{255,0,255}"},
                             {11, "Immediate Receive", "{100,100,177}"},
                             {12, "I/O", "{172,174,41}"},
                             {13, "Group Communication", "{255,144,26}"},
                             {15, "Others", "{192,224,0}"},
                             {16, "Send Receive", "{66,66,66}"}};

uint32_t state_of(const mpi::CallInfo& info) {
  using mpi::CallGroup;
  const mpi::CallMeaning& meaning = mpi::meaning_of(info.id);
  const bool sends = meaning.does_any(mpi::kDoesSend), gets = meaning.does_any(mpi::kDoesReceive);
  switch (info.group) {
    case CallGroup::kColl:
      return meaning.flow == mpi::Flow::kBarrier      ? 5
             : meaning.does_any(mpi::kDoesCollective) ? 13
                                                      : 15;
    case CallGroup::kCompletion:
      return meaning.does_any(mpi::kDoesComplete) && meaning.how != mpi::How::kPolls ? 8 : 6;
    case CallGroup::kIo: return 12;
    case CallGroup::kP2p:
      if (sends && gets) return 16;
      if (meaning.does_any(mpi::kDoesProbe)) return 6;
      if (!sends && !gets) return 15;
      if (meaning.how == mpi::How::kNonblocking) return gets ? 11 : 10;
      return gets ? 3 : 4;
    default: return 15;
  }
}

}  // namespace

ParaverCall paraver_call(CallId call) {
  using mpi::CallGroup;
  ParaverCall out;
  out.value = kOurs + call;
  const mpi::CallInfo* info = mpi::find_call(call);
  if (info == nullptr) return out;
  for (const Known& known : kExtrae)
    if (known.call == info->id) out.value = known.value;
  out.state = state_of(*info);
  switch (info->group) {
    case CallGroup::kP2p:
    case CallGroup::kPersist:
    case CallGroup::kCompletion: out.type = kParaverP2p; break;
    case CallGroup::kColl: out.type = kParaverCollective; break;
    case CallGroup::kRma: out.type = kParaverRma; break;
    case CallGroup::kIo: out.type = kParaverIo; break;
    default: break;
  }
  return out;
}

std::string pcf_text(const ParaverNames& names) {
  static const std::map<uint32_t, std::string_view> kTypes = {
      {kParaverP2p, "MPI Point-to-point"},
      {kParaverCollective, "MPI Collective Comm"},
      {kParaverOther, "MPI Other"},
      {kParaverRma, "MPI One-sided"},
      {kParaverIo, "MPI I/O"},
      {kParaverRegion, "User region"},
      {kParaverSite, "Caller line at level 1"}};
  std::string out =
      "DEFAULT_OPTIONS\n\nLEVEL               THREAD\nUNITS               NANOSEC\n"
      "LOOK_BACK           100\nSPEED               1\nFLAG_ICONS          ENABLED\n"
      "NUM_OF_STATE_COLORS 1000\nYMAX_SCALE          37\n\n\nDEFAULT_SEMANTIC\n\n"
      "THREAD_FUNC         State As Is\n\n\nSTATES\n";
  const auto at = std::back_inserter(out);
  for (const State& state : kStates) fmt::format_to(at, "{}    {}\n", state.value, state.name);
  out += "\n\nSTATES_COLOR\n";
  for (const State& state : kStates) fmt::format_to(at, "{}    {}\n", state.value, state.colour);
  for (const auto& [type, values] : names.values) {
    fmt::format_to(at, "\n\nEVENT_TYPE\n9    {}    {}\nVALUES\n0    {}\n", type, kTypes.at(type),
                   type == kParaverSite || type == kParaverRegion ? "End" : "Outside MPI");
    for (const auto& [value, name] : values)
      fmt::format_to(at, "{}    {}\n", value, text::printable(name));
  }
  return out;
}

std::string row_text(const Job& job) {
  const format::Meta& meta = reader::data_of(job.trace).meta;
  std::string cpus, threads;
  size_t thread_count = 0;
  for (size_t i = 0; i < job.ranks.size(); ++i) {
    fmt::format_to(std::back_inserter(cpus), "{}.rank {}\n", i + 1, job.ranks[i]);
    for (size_t t = 0; t < job.trace.locations(job.ranks[i]).size(); ++t, ++thread_count)
      fmt::format_to(std::back_inserter(threads), "THREAD 1.{}.{}\n", i + 1, t + 1);
  }
  std::string out = fmt::format("LEVEL CPU SIZE {}\n{}\nLEVEL NODE SIZE {}\n", job.ranks.size(),
                                cpus, std::max<size_t>(1, meta.hosts.size()));
  for (const std::string& host : meta.hosts) out += text::printable(host) + "\n";
  if (meta.hosts.empty()) out += "unknown\n";
  return out + fmt::format("\nLEVEL THREAD SIZE {}\n", thread_count) + threads;
}

}  // namespace refrain::convert
