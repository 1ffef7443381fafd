#include "tracer/wrap/forwarded_call.h"

#include <sys/uio.h>
#include <unistd.h>

#include "mpi_runtime/constants_table.h"
#include "tracer/requests/request_lanes.h"
#include "tracer/state/location.h"
#include "tracer/state/process.h"

namespace refrain::tracer {

namespace {

// Without a fault where the program's pointer leads nowhere. False: nothing could be read.
bool read_memory(const void* from, void* to, size_t size) {
  const iovec local{to, size};
  const iovec remote{const_cast<void*>(from), size};
  return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(size);
}

}  // namespace

ForwardedCall::ForwardedCall(uint32_t function, void* return_address, void* frame)
    : scope_(0, return_address, frame) {
  if (scope_.active()) count_forwarded(scope_.process(), function);
}

void ForwardedCall::watch_bytes(Place first, int64_t count) {
  if (first.at == nullptr) return;
  const auto* const begin = static_cast<const char*>(first.at);
  for (int64_t i = 0; i < count; ++i) {
    Place place = first;
    place.at = begin + static_cast<size_t>(i) * first.size;
    if (!read_memory(place.at, &place.before, place.size)) return;
    places_.push_back(place);
  }
}

void ForwardedCall::forget_changed() {
  for (const Place& place : places_) {
    uint64_t now = 0;
    if (!read_memory(place.at, &now, place.size) || now == place.before) continue;
    place.is_request ? forget_request(place, now) : forget_object(place, now);
  }
}

// A handle that is null now was freed. Another value is a new object, whatever had it before.
void ForwardedCall::forget_object(const Place& place, uint64_t now) {
  Process& p = scope_.process();
  const bool is_null = handle_constant(place.kind, now) != 0;
  const uint64_t key = is_null ? place.before : now;
  if (handle_constant(place.kind, key) != 0) return;  // predefined ones stay what they are
  const Process::Guard guard(p);
  if (p.handles.find(place.kind, key) != HandleMap::kMissing) p.forget(place.kind, key);
}

void ForwardedCall::forget_request(const Place& place, uint64_t now) {
  RequestLane& lane = *scope_.location().requests;
  const bool is_null = now == handle_key(MPI_REQUEST_NULL);
  const uint64_t key = is_null ? place.before : now;
  // Several requests that are over may have one value: a new one of it says nothing of the others.
  if (!is_null && lane.all.is_shared_handle(key)) return;
  AllLanes all(lane);
  if (RequestEntry* const entry = all.find(key, place.at); entry != nullptr)
    all.table_of(*entry).remove(*entry);
}

}  // namespace refrain::tracer
