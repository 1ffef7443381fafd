#include "tracer/left_out.h"

#include "tracer/encoder.h"
#include "tracer/location.h"
#include "tracer/process.h"

namespace refrain::tracer {

void Encoder::leave_out(bool filtered) { left_out_ = kLeftOut | (filtered ? kFilteredOut : 0); }

void Encoder::call_is_left_out() {
  made_request_ = false;
  if (!has_pending_) return;
  has_pending_ = false;
  Process& p = *location_.process;
  Process::Guard guard(p);
  pending_.terminal = left_out_ | p.left_out.intern(bytes());
  p.requests.add(pending_);
}

void Encoder::request_of(uint32_t terminal) {
  tag_byte(Tag::kRequest);
  if ((terminal & kLeftOut) != 0 && left_out_ == 0) {
    Process& p = *location_.process;
    terminal = p.signatures.intern(p.left_out.at(terminal & kLeftOutIndex));
    if (terminal == p.stats.size()) p.stats.emplace_back();
  }
  varint(terminal);
}

}  // namespace refrain::tracer
