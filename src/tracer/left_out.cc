#include "tracer/left_out.h"

#include "tracer/encoder.h"
#include "tracer/location.h"
#include "tracer/process.h"
#include "tracer/request_lanes.h"

namespace refrain::tracer {

void Encoder::leave_out(bool filtered) { left_out_ = kLeftOut | (filtered ? kFilteredOut : 0); }

void Encoder::call_is_left_out() {
  made_request_ = false;
  if (!has_pending_) return;
  has_pending_ = false;
  Process& p = *location_.process;
  pending_.terminal = left_out_ | p.intern(p.left_out, bytes());
  add_request(*location_.requests, pending_);
}

void Encoder::request_of(uint32_t terminal) {
  tag_byte(Tag::kRequest);
  if ((terminal & kLeftOut) != 0 && left_out_ == 0) {
    Process& p = *location_.process;
    const std::string_view signature = p.left_out.at(terminal & kLeftOutIndex);
    const uint32_t hash = InternTable::hash_of(signature);
    terminal = p.signatures.find(signature, hash);
    if (terminal == InternTable::kMissing) {
      Process::Guard guard(p);
      terminal = p.make_terminal(signature, hash);
    }
  }
  varint(terminal);
}

}  // namespace refrain::tracer
