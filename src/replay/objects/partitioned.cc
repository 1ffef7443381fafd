// Parts of messages: whether one has arrived.

#include <algorithm>

#include "events/payload.h"
#include "mpi/call_ids.h"
#include "mpi_runtime/handle_map.h"
#include "replay/engine.h"
#include "replay/quiet.h"
#include "replay/reissue.h"

namespace refrain::replay {

#if MPI_VERSION >= 4

namespace {
constexpr int kOwnTag = 1;
constexpr int64_t kMostParts = 1 << 20;
}  // namespace

// A receive of so many parts, or more, that do not come until the end. One that is there is asked
// again: a program asks a million times, and an MPI has memory for fewer requests.
uint64_t Engine::endless_partitioned(int64_t parts) {
  const int count = static_cast<int>(std::clamp<int64_t>(parts, 1, kMostParts));
  for (size_t i = 0; i < endless_parts_.size(); ++i)
    if (parts_of_endless_[i] >= count) return endless_parts_[i].first;
  MPI_Request receive = MPI_REQUEST_NULL, send = MPI_REQUEST_NULL;
  REFRAIN_QUIET(MPI_Precv_init)
  (nullptr, count, 0, MPI_BYTE, 0, kOwnTag, own_comm(), MPI_INFO_NULL, &receive);
  REFRAIN_QUIET(MPI_Psend_init)
  (nullptr, count, 0, MPI_BYTE, 0, kOwnTag, own_comm(), MPI_INFO_NULL, &send);
  REFRAIN_QUIET(MPI_Start)(&receive);
  REFRAIN_QUIET(MPI_Start)(&send);
  endless_parts_.push_back({mpi_runtime::handle_key(receive), mpi_runtime::handle_key(send)});
  parts_of_endless_.push_back(count);
  return endless_parts_.back().first;
}

void Engine::end_partitioned() {
  for (size_t i = 0; i < endless_parts_.size(); ++i) {
    auto receive = mpi_runtime::handle_of<MPI_Request>(endless_parts_[i].first);
    auto send = mpi_runtime::handle_of<MPI_Request>(endless_parts_[i].second);
    REFRAIN_QUIET(MPI_Pready_range)(0, parts_of_endless_[i] - 1, send);
    REFRAIN_QUIET(MPI_Wait)(&send, MPI_STATUS_IGNORE);
    REFRAIN_QUIET(MPI_Wait)(&receive, MPI_STATUS_IGNORE);
    REFRAIN_QUIET(MPI_Request_free)(&send);
    REFRAIN_QUIET(MPI_Request_free)(&receive);
  }
  endless_parts_.clear();
  parts_of_endless_.clear();
}

// MPI_Parrived.
base::Status Engine::ask_for_part(Frame& frame) {
  Arguments& a = *frame.arguments;
  const Value& asked = events::argument(frame.signature, "request");
  const Request* const known = find_request(asked);
  const Value* const flag = frame.signature.find("flag");
  const bool had_arrived = flag != nullptr && flag->at_exit().integer_or(0) != 0;
  if (known == nullptr || !known->is_active) return call(frame);
  if (!had_arrived) {
    const Signature& maker = reader_.signature(asked.request_signature());
    const int64_t parts = events::argument(maker, "partitions").integer_or(1);
    a.slot(0).number = static_cast<int64_t>(endless_partitioned(parts));
    ++counts_.masked;
    return call(frame);
  }
  int is_there = 0;
  const auto request = mpi_runtime::handle_of<MPI_Request>(known->key);
  while (is_there == 0) {
    if (REFRAIN_QUIET(MPI_Parrived)(request, static_cast<int>(a.slot(1).number), &is_there) !=
        MPI_SUCCESS)
      break;
    if (is_there == 0) yield();
  }
  return call(frame);
}

#else  // there are no partitioned messages

uint64_t Engine::endless_partitioned(int64_t) { return 0; }
void Engine::end_partitioned() {}
base::Status Engine::ask_for_part(Frame& frame) { return call(frame); }

#endif

}  // namespace refrain::replay
