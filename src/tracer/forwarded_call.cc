#include "tracer/forwarded_call.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "tracer/constants_table.h"
#include "tracer/location.h"
#include "tracer/process.h"
#include "tracer/request_lanes.h"
#include "tracer/spool.h"

namespace refrain::tracer {

namespace {

constexpr uint32_t kMaxForwarded = 1024;  // functions; the last one counts for all behind it

// Of a rank.
struct ForwardedCounts {
  std::atomic<uint64_t> calls[kMaxForwarded] = {};
};

// Without a fault where the program's pointer leads nowhere. False: nothing could be read.
bool read_memory(const void* from, void* to, size_t size) {
  const iovec local{to, size};
  const iovec remote{const_cast<void*>(from), size};
  return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(size);
}

// In the spool the count is the power of two below it, so that a loop leaves no record per call.
void count(Process& p, uint32_t function) {
  std::atomic<uint64_t>& calls =
      of_this_process<ForwardedCounts>().calls[std::min(function, kMaxForwarded - 1)];
  const uint64_t n = calls.fetch_add(1, std::memory_order_relaxed) + 1;
  if ((n & (n - 1)) != 0 || p.spool == nullptr) return;
  const Process::Guard guard(p);
  p.spool->loss(kUnknownFunction, n == 1 ? 1 : n / 2, kForwardedNames[function]);
}

}  // namespace

ForwardedCall::ForwardedCall(uint32_t function, void* return_address, void* frame)
    : scope_(0, return_address, frame) {
  if (scope_.active()) count(scope_.process(), function);
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

void add_forwarded(std::vector<format::LossRecord>& losses, int rank) {
  const ForwardedCounts& counts = of_this_process<ForwardedCounts>();
  for (uint32_t i = 0; i < std::min(kForwardedCount, kMaxForwarded); ++i)
    if (const uint64_t n = counts.calls[i].load(std::memory_order_relaxed); n > 0)
      losses.push_back({kUnknownFunction, n, rank, kForwardedNames[i]});
}

// A user who sees nothing of this would take the trace for whole.
void name_unknown_functions(const Process& p, const std::vector<format::LossRecord>& losses) {
  uint64_t calls = 0, functions = 0;
  std::string first;
  for (const format::LossRecord& loss : losses) {
    if (loss.reason != kUnknownFunction) continue;
    if (functions++ == 0) first = loss.detail;
    calls += loss.calls;
  }
  if (functions == 0 || p.options.quiet) return;
  const std::string others =
      functions == 1 ? "" : " and " + std::to_string(functions - 1) + " other functions";
  std::fprintf(stderr,
               "refrain: %llu calls of %s%s are not in the trace: this recorder does not know what "
               "their parameters mean; `refrain info` counts them\n",
               static_cast<unsigned long long>(calls), first.c_str(), others.c_str());
}

}  // namespace refrain::tracer
