#include "tracer/requests/left_out.h"

#include "tracer/requests/request_lanes.h"
#include "tracer/state/location.h"
#include "tracer/state/process.h"
#include "tracer/symbolic/encoder.h"

namespace refrain::tracer {

void Encoder::leave_out(bool filtered) { left_out_ = kLeftOut | (filtered ? kFilteredOut : 0); }

// A call that is left out may make a request, which a recorded call completes. Its signature is
// kept apart, and gets a number in the trace only if that happens: else filters would leave traces
// of what they filter.
void Encoder::call_is_left_out() {
  made_request_ = false;
  if (!has_pending_) return;
  has_pending_ = false;
  Process& p = *location_.process;
  pending_.terminal = left_out_ | p.intern(p.left_out, bytes());
  add_request(*location_.requests, pending_);
}

const RequestEntry* Encoder::call_is_held(uint32_t signature) {
  made_request_ = false;
  if (!has_pending_) return nullptr;
  has_pending_ = false;
  // It waits among the held calls and may be recorded yet; until then its request is as one of a
  // call that was left out.
  pending_.terminal = kLeftOut | signature;
  return &add_request(*location_.requests, pending_);
}

bool Encoder::is_filtered_key(uint64_t key) {
  RequestLane& lane = *location_.requests;
  {
    OwnLane own(lane);
    if (const uint32_t entry = own->find(key, nullptr); entry != RequestTable::kNone)
      return is_filtered(own->at(entry).terminal);
  }
  // Another thread may have made the request. Its lane has a lock, which the own one does not need.
  if (!lane.has_neighbours) return false;
  AllLanes all(lane);
  const RequestEntry* const r = all.find(key, nullptr);
  return r != nullptr && is_filtered(r->terminal);
}

void Encoder::request_of(uint32_t terminal) {
  tag_byte(Tag::kRequest);
  // Now a recorded call refers to it: here the signature of the call that was left out enters the
  // trace, as a definition of the request.
  if ((terminal & kLeftOut) != 0 && left_out_ == 0) {
    Process& p = *location_.process;
    const std::string_view signature = p.left_out.at(terminal & kLeftOutIndex);
    const bool bounded = p.is_bounded();
    const Process::Guard reading(p, bounded);
    const uint32_t hash = InternTable::hash_of(signature);
    terminal = p.signatures.find(signature, hash);
    if (terminal == InternTable::kMissing) {
      const Process::Guard writing(p, !bounded);
      terminal = p.make_terminal(signature, hash);
    }
    // With --memory tables are emptied now and then; numbers go on behind those of the tables
    // before.
    terminal += p.first_terminal;
  }
  varint(terminal);
}

}  // namespace refrain::tracer
