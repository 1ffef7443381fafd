#include "stream/stream.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "refrain/coupling.h"
#include "stream/partner.h"

namespace refrain::stream {
Stream::Stream(Transport& transport, const StreamOptions& options)
    : transport_(transport), options_(options), random_(options.seed) {}

Stream::~Stream() {
  for (std::unique_ptr<Partner>& partner : partners_) {
    stop_receiving(*partner);
    // MPI may still look at these: the partner died, or the stream was never closed.
    if (partner->greeting_send != Transport::kNone || partner->end_send != Transport::kNone ||
        partner->greeting_receive != Transport::kNone)
      static_cast<void>(partner.release());
  }
  for (const Borrowed& borrowed : borrowed_) free_block(borrowed.memory, options_.block_bytes);
  for (Out& out : outs_)
    if (out.request == Transport::kNone) free_block(out.memory, options_.block_bytes);
}

int Stream::fail(int code, std::string text) {
  error_ = std::move(text);
  return code;
}

// -- opening --

int Stream::open(int rank, int tag, bool reads, bool writes) {
  while (writes && outs_.size() < static_cast<size_t>(options_.buffers)) {
    char* const memory = new_block(options_.block_bytes);
    if (memory == nullptr) return fail(REFRAIN_ENOMEM, "no memory for blocks to write");
    outs_.push_back({memory, Transport::kNone, nullptr, false});
  }
  auto partner = std::make_unique<Partner>(rank, tag);
  partner->in_open = reads;
  partner->out_open = writes;
  if (reads) {
    for (int i = 0; i < options_.buffers; ++i) {
      char* const memory = new_block(options_.block_bytes);
      if (memory == nullptr) return fail(REFRAIN_ENOMEM, "no memory for blocks to read");
      partner->slots.push_back({memory, Transport::kNone});
    }
    for (size_t i = 0; i < partner->slots.size(); ++i)
      if (const int code = post(*partner, i); code < 0) return code;
  }
  partner->own.block_bytes = options_.block_bytes;
  partner->own.reads = reads;
  partner->own.writes = writes;
  partner->greeting_receive = transport_.receive(rank, tag, &partner->other, sizeof partner->other);
  partner->greeting_send = transport_.send(rank, tag, &partner->own, sizeof partner->own);
  if (partner->greeting_receive == Transport::kNone || partner->greeting_send == Transport::kNone)
    return fail(REFRAIN_EMPI, "MPI cannot greet rank " + std::to_string(rank));
  if (reads) {  // behind the greeting's receive, as it is sent behind the greeting
    partner->end_receive =
        transport_.receive(rank, tag, &partner->other_end, sizeof partner->other_end);
    if (partner->end_receive == Transport::kNone)
      return fail(REFRAIN_EMPI, "MPI cannot receive from rank " + std::to_string(rank));
  }
  reads_ |= reads;
  writes_ |= writes;
  partners_.push_back(std::move(partner));
  if (options_.balance == Balance::kRandom) next_out_ = random_index();
  return 0;
}

int Stream::post(Partner& partner, size_t slot) {
  Slot& s = partner.slots[slot];
  s.request = transport_.receive(partner.rank, partner.tag + 1, s.memory, options_.block_bytes);
  if (s.request != Transport::kNone) {
    partner.posted.push_back(slot);
    return 0;
  }
  return fail(REFRAIN_EMPI, "MPI cannot receive from rank " + std::to_string(partner.rank));
}

// Whether the partner has greeted and fits; a code once when it does not.
int Stream::greet(Partner& partner, bool* ready) {
  *ready = partner.greeted;
  if (partner.greeting_send != Transport::kNone &&
      transport_.test(partner.greeting_send, nullptr) != Transport::Test::kOpen)
    partner.greeting_send = Transport::kNone;
  if (partner.greeted || partner.greeting_receive == Transport::kNone) return 0;
  size_t bytes = 0;
  const Transport::Test test = transport_.test(partner.greeting_receive, &bytes);
  if (test == Transport::Test::kOpen) return 0;
  partner.greeting_receive = Transport::kNone;
  if (test == Transport::Test::kFailed) return lose(partner, "MPI cannot reach it");
  if (bytes != sizeof partner.other) partner.other.version = 0;
  const int code = check_greeting(partner);
  *ready = partner.greeted = code == 0;
  return code;
}

int Stream::check_greeting(Partner& partner) {
  const Greeting &own = partner.own, &other = partner.other;
  std::string what;
  if (other.version != own.version)
    what = "it has version " + std::to_string(other.version) + " of the coupling, not " +
           std::to_string(own.version);
  else if (other.block_bytes != own.block_bytes)
    what = "its blocks have " + std::to_string(other.block_bytes) + " bytes, not " +
           std::to_string(own.block_bytes);
  else if (own.reads != other.writes || own.writes != other.reads)
    what = "one end must read what the other one writes";
  if (what.empty()) return 0;
  partner.in_open = partner.out_open = false;
  stop_receiving(partner);
  return fail(REFRAIN_EMISMATCH,
              "the stream with rank " + std::to_string(partner.rank) + ": " + what);
}

// -- writing --

// The partner that the balance chooses; null: no reader is left.
Stream::Partner* Stream::writable() {
  const size_t from = options_.balance == Balance::kNone ? 0 : next_out_;
  for (size_t i = 0; i < partners_.size(); ++i) {
    Partner& partner = *partners_[(from + i) % partners_.size()];
    if (partner.out_open) return &partner;
  }
  return nullptr;
}

size_t Stream::place_of(const Partner& partner) const {
  size_t place = 0;
  while (partners_[place].get() != &partner) ++place;
  return place;
}

void Stream::pass_on(const Partner& partner) {
  if (options_.balance == Balance::kRandom) next_out_ = random_index();
  if (options_.balance == Balance::kRoundRobin)
    next_out_ = (place_of(partner) + 1) % partners_.size();
}

size_t Stream::random_index() {
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  return random_ % partners_.size();
}

int Stream::no_reader_left() {
  return fail(dead_.empty() ? REFRAIN_EMISMATCH : REFRAIN_EDIED, "no reader is left");
}

// *out: a buffer that is free, or null.
int Stream::free_out(Out** out) {
  *out = nullptr;
  for (Out& o : outs_) {
    if (o.is_acquired) continue;
    if (o.request != Transport::kNone) {
      const Transport::Test test = transport_.test(o.request, nullptr);
      if (test == Transport::Test::kOpen) continue;
      o.request = Transport::kNone;
      if (test == Transport::Test::kFailed) return lose(*o.to, "MPI cannot reach it");
    }
    if (*out == nullptr) *out = &o;
  }
  return 0;
}

bool Stream::are_all_acquired() const {
  return std::all_of(outs_.begin(), outs_.end(), [](const Out& out) { return out.is_acquired; });
}

int Stream::send(Partner& partner, Out& out, size_t bytes) {
  ++partner.blocks_out;
  out.to = &partner;
  out.is_acquired = false;
  out.request = transport_.send(partner.rank, partner.tag + 1, out.memory, bytes);
  return out.request == Transport::kNone ? lose(partner, "MPI cannot send to it") : 0;
}

int64_t Stream::write(const void* data, size_t bytes, bool wait) {
  if (!writes_) return fail(REFRAIN_EINVALID, "the stream is not open for writing");
  if (bytes == 0 || bytes > options_.block_bytes)
    return fail(REFRAIN_EINVALID,
                "a block has 1 to " + std::to_string(options_.block_bytes) + " bytes");
  if (wait && are_all_acquired())
    return fail(REFRAIN_EINVALID, "all blocks are acquired: nothing can be written");
  for (int round = 0;; ++round) {
    Partner* const to = writable();
    if (to == nullptr) return no_reader_left();
    bool ready = false;
    if (const int code = greet(*to, &ready); code < 0) return code;
    Out* out = nullptr;
    if (ready)
      if (const int code = free_out(&out); code < 0) return code;
    if (out != nullptr) {
      std::memcpy(out->memory, data, bytes);
      return hand_over(*to, *out, bytes);
    }
    if (const int code = try_again(to, wait, round, "all buffers are full"); code < 0) return code;
  }
}

int64_t Stream::hand_over(Partner& to, Out& out, size_t bytes) {
  const int code = send(to, out, bytes);
  pass_on(to);
  return code < 0 ? code : static_cast<int64_t>(bytes);
}

int Stream::try_again(Partner* to, bool wait, int round, const char* why) {
  if (const int code = look_who_lives(); code < 0) return code;
  if (!wait) {
    if (to != nullptr) pass_on(*to);
    return fail(REFRAIN_EAGAIN, why);
  }
  transport_.pause(round);
  return 0;
}

int Stream::acquire(void** block, bool wait) {
  if (!writes_) return fail(REFRAIN_EINVALID, "the stream is not open for writing");
  if (wait && are_all_acquired())
    return fail(REFRAIN_EINVALID, "all blocks are acquired: commit one");
  for (int round = 0;; ++round) {
    if (writable() == nullptr) return no_reader_left();
    Out* out = nullptr;
    if (const int code = free_out(&out); code < 0) return code;
    if (out != nullptr) {
      out->is_acquired = true;
      *block = out->memory;
      return 0;
    }
    if (const int code = try_again(nullptr, wait, round, "all buffers are full"); code < 0)
      return code;
  }
}

int64_t Stream::commit(void* block, size_t bytes, bool wait) {
  const auto out = std::find_if(outs_.begin(), outs_.end(),
                                [&](const Out& o) { return o.is_acquired && o.memory == block; });
  if (out == outs_.end()) return fail(REFRAIN_EINVALID, "this is no block that was acquired");
  if (bytes > options_.block_bytes)
    return fail(REFRAIN_EINVALID,
                "a block has at most " + std::to_string(options_.block_bytes) + " bytes");
  if (bytes == 0) {
    out->is_acquired = false;
    return 0;
  }
  for (int round = 0;; ++round) {
    Partner* const to = writable();
    if (to == nullptr) return no_reader_left();
    bool ready = false;
    if (const int code = greet(*to, &ready); code < 0) return code;
    if (ready) return hand_over(*to, *out, bytes);
    if (const int code = try_again(to, wait, round, "the reader has not opened its end"); code < 0)
      return code;
  }
}

// -- reading --

// The oldest block of a partner: 1, 0 when there is none, or a code.
int Stream::take(Partner& partner, Taken* taken) {
  bool ready = false;
  if (const int code = greet(partner, &ready); code < 0) return code;
  if (!partner.in_open || partner.posted.empty()) return 0;
  const size_t place = partner.posted.front();
  Slot& slot = partner.slots[place];
  size_t bytes = 0;
  const Transport::Test test = transport_.test(slot.request, &bytes);
  if (test == Transport::Test::kOpen) return look_at_end(partner);
  slot.request = Transport::kNone;
  partner.posted.pop_front();
  if (test == Transport::Test::kFailed) return lose(partner, "MPI cannot receive from it");
  const bool is_over = partner.ended && partner.blocks_in >= partner.other_end.blocks;
  if (bytes == 0 || is_over) return lose(partner, "what it sends are not the blocks of a stream");
  ++partner.blocks_in;
  *taken = {&partner, place, bytes};
  return 1;
}

// Whether a writer of which there is no block has ended: 0, or a code.
int Stream::look_at_end(Partner& partner) {
  if (!partner.ended) {
    size_t bytes = 0;
    const Transport::Test test = transport_.test(partner.end_receive, &bytes);
    if (test == Transport::Test::kOpen) {
      // What it sent before it died may still arrive.
      if (partner.gone && ++partner.looks_since_gone > kLooksAfterDeath)
        return lose(partner, "its process is gone");
      return 0;
    }
    partner.end_receive = Transport::kNone;
    if (test == Transport::Test::kFailed || bytes != sizeof partner.other_end ||
        partner.other_end.blocks < partner.blocks_in)
      return lose(partner, "what it sends are not the blocks of a stream");
    partner.ended = true;
  }
  if (partner.blocks_in < partner.other_end.blocks) {
    if (partner.gone && ++partner.looks_since_gone > kLooksAfterDeath)
      return lose(partner, "its process is gone");
    return 0;
  }
  if (partner.other_end.kind == kAbandoned)
    return lose(partner, "it left MPI with the stream open");
  partner.in_open = false;
  stop_receiving(partner);
  return 0;
}

// One look at each writer, in the order of the balance: what take() says of the first that has
// something to say.
int Stream::sweep(Taken* taken, bool* any_open) {
  *any_open = false;
  const size_t begin = options_.balance == Balance::kRoundRobin ? next_in_
                       : options_.balance == Balance::kRandom   ? random_index()
                                                                : 0;
  for (size_t i = 0; i < partners_.size(); ++i) {
    const size_t place = (begin + i) % partners_.size();
    Partner& partner = *partners_[place];
    if (!partner.in_open) continue;
    const int got = take(partner, taken);
    if (partner.in_open) *any_open = true;
    if (got == 0) continue;
    next_in_ = (place + 1) % partners_.size();
    return got;
  }
  return 0;
}

// The next block of any writer: 1, 0 at the end, or a code.
int Stream::next(Taken* taken, bool wait) {
  if (!reads_) return fail(REFRAIN_EINVALID, "the stream is not open for reading");
  for (int round = 0;; ++round) {
    bool any_open = false;
    const int got = sweep(taken, &any_open);
    if (got != 0) return got;
    if (!any_open) return 0;
    if (const int code = look_who_lives(); code < 0) return code;
    if (!wait) return fail(REFRAIN_EAGAIN, "no writer has a block");
    if (!is_any_posted()) return fail(REFRAIN_EINVALID, "all blocks are borrowed: release one");
    transport_.pause(round);
  }
}

bool Stream::is_any_posted() const {
  return std::any_of(partners_.begin(), partners_.end(),
                     [](const auto& partner) { return !partner->posted.empty(); });
}

int64_t Stream::read(void* data, bool wait, int* from) {
  Taken taken;
  if (const int got = next(&taken, wait); got <= 0) return got;
  std::memcpy(data, taken.from->slots[taken.slot].memory, taken.bytes);
  if (from != nullptr) *from = taken.from->rank;
  const int code = post(*taken.from, taken.slot);
  return code < 0 ? code : static_cast<int64_t>(taken.bytes);
}

int64_t Stream::borrow(const void** block, bool wait, int* from) {
  Taken taken;
  if (const int got = next(&taken, wait); got <= 0) return got;
  char* const memory = std::exchange(taken.from->slots[taken.slot].memory, nullptr);
  borrowed_.push_back({memory, taken.from});
  *block = memory;
  if (from != nullptr) *from = taken.from->rank;
  return static_cast<int64_t>(taken.bytes);
}

int Stream::release(const void* block) {
  const auto place = std::find_if(borrowed_.begin(), borrowed_.end(),
                                  [&](const Borrowed& b) { return b.memory == block; });
  if (place == borrowed_.end()) return fail(REFRAIN_EINVALID, "this is no block that was borrowed");
  const Borrowed borrowed = *place;
  borrowed_.erase(place);
  std::vector<Slot>& slots = borrowed.from->slots;
  const auto slot =
      std::find_if(slots.begin(), slots.end(), [](const Slot& s) { return s.memory == nullptr; });
  if (slot == slots.end()) {  // its writer has ended
    free_block(borrowed.memory, options_.block_bytes);
    return 0;
  }
  slot->memory = borrowed.memory;
  return post(*borrowed.from, static_cast<size_t>(slot - slots.begin()));
}

}  // namespace refrain::stream
