// How streams end: partners that died, and close().
#include <utility>

#include "refrain/coupling.h"
#include "stream/partner.h"
#include "stream/stream.h"

namespace refrain::stream {
namespace {

// Looking into /proc costs microseconds a process, a look at the clock nanoseconds.
constexpr int64_t kLookEvery_ns = 50'000'000;

}  // namespace

// -- who died --

// Now and then: writers of whom there may still be blocks are noted, others are lost at once.
int Stream::look_who_lives() {
  const int64_t now = transport_.now_ns();
  if (now - looked_ns_ < kLookEvery_ns) return 0;
  looked_ns_ = now;
  int first = 0;
  for (const std::unique_ptr<Partner>& partner : partners_) {
    if (partner->gone || partner->lost || transport_.is_alive(partner->rank)) continue;
    partner->gone = true;
    partner->out_open = false;
    if (partner->in_open) continue;
    const int code = lose(*partner, "its process is gone");
    if (first == 0) first = code;
  }
  return first;
}

int Stream::lose(Partner& partner, const std::string& how) {
  partner.in_open = partner.out_open = false;
  partner.lost = true;
  stop_receiving(partner);
  for (Out& out : outs_) {
    if (out.to != &partner || out.request == Transport::kNone) continue;
    // MPI may still read the old one.
    char* const memory = new_block(options_.block_bytes);
    if (memory == nullptr) return fail(REFRAIN_ENOMEM, "no memory for blocks to write");
    out = {memory, Transport::kNone, nullptr, false};
  }
  dead_.push_back(partner.rank);
  return fail(REFRAIN_EDIED, "rank " + std::to_string(partner.rank) + " died: " + how);
}

// Blocks that the caller has borrowed stay as they are.
void Stream::stop_receiving(Partner& partner) {
  for (Slot& slot : partner.slots) {
    if (slot.request != Transport::kNone) transport_.cancel(slot.request);
    free_block(slot.memory, options_.block_bytes);
  }
  partner.slots.clear();
  partner.posted.clear();
  if (partner.end_receive != Transport::kNone)
    transport_.cancel(std::exchange(partner.end_receive, Transport::kNone));
  if (partner.lost && partner.greeting_receive != Transport::kNone)
    transport_.cancel(std::exchange(partner.greeting_receive, Transport::kNone));
}

// -- closing --

// As sweep(), and throws away what has come: 1 when that was a block.
int Stream::sweep_away(bool* any_open) {
  Taken taken;
  const int got = sweep(&taken, any_open);
  if (got == 1 && post(*taken.from, taken.slot) < 0)
    return lose(*taken.from, "MPI cannot receive from it");
  return got;
}

// While this end waits, it throws away what others send it: they may wait for us.
int Stream::end_partner(Partner& partner, Ending ending) {
  for (int round = 0; partner.out_open; ++round) {
    bool ready = false;
    if (const int code = greet(partner, &ready); code < 0) return code;
    if (ready) {
      partner.out_open = false;
      partner.own_end = {partner.blocks_out, ending == Ending::kClosed ? kClosed : kAbandoned, 0};
      partner.end_send =
          transport_.send(partner.rank, partner.tag, &partner.own_end, sizeof partner.own_end);
      return partner.end_send == Transport::kNone ? lose(partner, "MPI cannot send to it") : 0;
    }
    bool any_open = false;
    if (sweep_away(&any_open) > 0) round = 0;
    static_cast<void>(look_who_lives());
    transport_.pause(round);
  }
  return 0;
}

// Until everything is sent and every writer has ended. Deaths are counted by the caller.
int Stream::finish() {
  int first = 0;
  for (int round = 0;; ++round) {
    bool open = false, ready = false;
    if (sweep_away(&open) > 0) round = 0;
    Out* out = nullptr;
    static_cast<void>(free_out(&out));
    for (const Out& o : outs_) open |= o.request != Transport::kNone;
    for (const std::unique_ptr<Partner>& partner : partners_) {
      if (partner->lost) continue;
      const int code = greet(*partner, &ready);
      if (code < 0 && first == 0) first = code;
      if (partner->lost) continue;
      if (partner->end_send != Transport::kNone &&
          transport_.test(partner->end_send, nullptr) != Transport::Test::kOpen)
        partner->end_send = Transport::kNone;
      open |= partner->greeting_send != Transport::kNone ||
              partner->greeting_receive != Transport::kNone ||
              partner->end_send != Transport::kNone;
    }
    if (!open) return first;
    static_cast<void>(look_who_lives());
    transport_.pause(round);
  }
}

// Blocks that the caller has acquired are not sent, those that it has borrowed are the stream's
// again.
int Stream::close(Ending ending) {
  for (Out& out : outs_) out.is_acquired = false;
  while (!borrowed_.empty()) static_cast<void>(release(borrowed_.back().memory));
  const size_t died = dead_.size();
  int first = 0;
  for (const std::unique_ptr<Partner>& partner : partners_) {
    const int code = end_partner(*partner, ending);
    if (first == 0) first = code;
  }
  const int code = finish();
  if (first == 0) first = code;
  return first == 0 && dead_.size() > died ? REFRAIN_EDIED : first;
}

}  // namespace refrain::stream
