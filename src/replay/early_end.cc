// The end of a rank whose calls do not reach MPI_Finalize: what is under way is received, cancelled
// or let go, so that MPI can end.

#include <vector>

#include "mpi/call_meaning.h"
#include "mpi_runtime/handle_map.h"
#include "replay/engine.h"
#include "replay/quiet.h"
#include "replay/reissue.h"

namespace refrain::replay {
namespace {

// What nobody has received until then would keep its sender.
void receive(const Prefix::Message& message, MPI_Comm comm) {
  MPI_Status status{};
  int bytes = 0;
  const int source = static_cast<int>(message.source), tag = static_cast<int>(message.tag);
  if (REFRAIN_QUIET(MPI_Probe)(source, tag, comm, &status) != MPI_SUCCESS) return;
  REFRAIN_QUIET(MPI_Get_count)(&status, MPI_BYTE, &bytes);
  std::vector<char> room(static_cast<size_t>(bytes < 0 ? 0 : bytes) + 1);
  REFRAIN_QUIET(MPI_Recv)(room.data(), bytes, MPI_BYTE, source, tag, comm, MPI_STATUS_IGNORE);
}

}  // namespace

void Engine::receive_in_transit() {
  for (const Prefix::Message& message : options_.in_transit) {
    const auto comm = trace_.communicator(message.comm, rank_);
    if (!comm || message.source < 0) continue;
    std::optional<uint64_t> key;
    if (const uint32_t id = predefined(message.comm); id != 0) key = value_of_constant(id);
    const auto made = own_.objects.find({mpi::ParamKind::kComm, comm->id});
    if (!key && made != own_.objects.end()) key = made->second;
    if (key) receive(message, mpi_runtime::handle_of<MPI_Comm>(*key));
  }
}

void Engine::let_requests_go() {
  for (auto& [maker, request] : own_.requests) {
    auto handle = mpi_runtime::handle_of<MPI_Request>(request.key);
    if (handle == MPI_REQUEST_NULL) continue;
    const mpi::CallMeaning& meaning = mpi::meaning_of(reader_.signature(maker).call);
    const bool is_collective = meaning.does_any(mpi::kDoesCollective);
    const bool is_receive = meaning.does_any(mpi::kDoesReceive) && !is_collective;
    // A message that is on its way would come after the cancel, and nobody would take it.
    const bool is_arriving = options_.arriving.contains(maker);
    if (is_receive && request.is_active && !is_arriving) REFRAIN_QUIET(MPI_Cancel)(&handle);
    if ((is_receive || is_collective) && request.is_active)
      REFRAIN_QUIET(MPI_Wait)(&handle, MPI_STATUS_IGNORE);
    if (handle != MPI_REQUEST_NULL) REFRAIN_QUIET(MPI_Request_free)(&handle);
    request.key = mpi_runtime::handle_key(MPI_REQUEST_NULL);
  }
}

base::Status Engine::end_early() {
  if (!has_started_) return base::Done{};
  receive_in_transit();
  let_requests_go();
  note_seconds();
  if (options_.at_end) options_.at_end(*this);
  if (auto good = end_endless(); !good.ok()) return good;
  MPI_Finalize();
  return base::Done{};
}

}  // namespace refrain::replay
