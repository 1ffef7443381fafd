#include "stream/stream.h"

#include <cstdlib>
#include <cstring>
#include <utility>

#include "refrain/coupling.h"
#include "stream/partner.h"

namespace refrain::stream {
namespace {

// Looking into /proc costs microseconds a process, a look at the clock nanoseconds.
constexpr int64_t kLookEvery_ns = 50'000'000;

}  // namespace

Stream::Stream(Transport& transport, const StreamOptions& options)
    : transport_(transport), options_(options), random_(options.seed) {}

Stream::~Stream() {
  for (std::unique_ptr<Partner>& partner : partners_) {
    stop_receiving(*partner);
    // MPI may still read the greeting: the partner died, or the stream was never closed.
    if (partner->greeting_send != Transport::kNone) static_cast<void>(partner.release());
  }
  for (Out& out : outs_)
    if (out.request == Transport::kNone) std::free(out.memory);
}

int Stream::fail(int code, std::string text) {
  error_ = std::move(text);
  return code;
}

// -- opening --

int Stream::open(int rank, int tag, bool reads, bool writes) {
  while (writes && outs_.size() < static_cast<size_t>(options_.buffers)) {
    char* const memory =
        static_cast<char*>(std::malloc(sizeof(BlockHeader) + options_.block_bytes));
    if (memory == nullptr) return fail(REFRAIN_ENOMEM, "no memory for blocks to write");
    outs_.push_back({memory, Transport::kNone, nullptr});
  }
  auto partner = std::make_unique<Partner>(rank, tag);
  partner->in_open = reads;
  partner->out_open = writes;
  if (reads) {
    for (int i = 0; i < options_.buffers; ++i) {
      void* const memory = std::malloc(sizeof(BlockHeader) + options_.block_bytes);
      if (memory == nullptr) return fail(REFRAIN_ENOMEM, "no memory for blocks to read");
      partner->slots.push_back({static_cast<char*>(memory), Transport::kNone});
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
  reads_ |= reads;
  writes_ |= writes;
  partners_.push_back(std::move(partner));
  if (options_.balance == Balance::kRandom) next_out_ = random_index();
  return 0;
}

int Stream::post(Partner& partner, size_t slot) {
  Slot& s = partner.slots[slot];
  s.request = transport_.receive(partner.rank, partner.tag + 1, s.memory,
                                 sizeof(BlockHeader) + options_.block_bytes);
  if (s.request != Transport::kNone) return 0;
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

// *out: a buffer that is free, or null.
int Stream::free_out(Out** out) {
  *out = nullptr;
  for (Out& o : outs_) {
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

int Stream::send(Partner& partner, Out& out, uint32_t kind, const void* data, size_t bytes) {
  const BlockHeader header{kind, partner.blocks_out++, bytes};
  std::memcpy(out.memory, &header, sizeof header);
  if (bytes > 0) std::memcpy(out.memory + sizeof header, data, bytes);
  out.to = &partner;
  out.request = transport_.send(partner.rank, partner.tag + 1, out.memory, sizeof header + bytes);
  return out.request == Transport::kNone ? lose(partner, "MPI cannot send to it") : 0;
}

int64_t Stream::write(const void* data, size_t bytes, bool wait) {
  if (!writes_) return fail(REFRAIN_EINVALID, "the stream is not open for writing");
  if (bytes == 0 || bytes > options_.block_bytes)
    return fail(REFRAIN_EINVALID,
                "a block has 1 to " + std::to_string(options_.block_bytes) + " bytes");
  for (int round = 0;; ++round) {
    Partner* const to = writable();
    if (to == nullptr)
      return fail(dead_.empty() ? REFRAIN_EMISMATCH : REFRAIN_EDIED, "no reader is left");
    bool ready = false;
    if (const int code = greet(*to, &ready); code < 0) return code;
    Out* out = nullptr;
    if (ready)
      if (const int code = free_out(&out); code < 0) return code;
    if (out != nullptr) {
      const int code = send(*to, *out, kBlock, data, bytes);
      pass_on(*to);
      return code < 0 ? code : static_cast<int64_t>(bytes);
    }
    if (const int code = look_who_lives(); code < 0) return code;
    if (!wait) {
      pass_on(*to);
      return fail(REFRAIN_EAGAIN, "all buffers are full");
    }
    transport_.pause(round);
  }
}

// -- reading --

// The oldest block of a partner: its bytes, 0 when the partner ended, or a code. *nothing: there is
// none.
int64_t Stream::take(Partner& partner, void* data, bool* nothing) {
  bool ready = false;
  if (const int code = greet(partner, &ready); code < 0) return code;
  if (!partner.in_open) return 0;
  Slot& slot = partner.slots[partner.head];
  size_t bytes = 0;
  const Transport::Test test = transport_.test(slot.request, &bytes);
  if (test == Transport::Test::kOpen) {
    *nothing = true;
    // What it sent before it died may still arrive.
    if (partner.gone && ++partner.looks_since_gone > kLooksAfterDeath) {
      *nothing = false;
      return lose(partner, "its process is gone");
    }
    return 0;
  }
  slot.request = Transport::kNone;
  if (test == Transport::Test::kFailed) return lose(partner, "MPI cannot receive from it");
  return look_at_block(partner, data, bytes);
}

int64_t Stream::look_at_block(Partner& partner, void* data, size_t bytes) {
  const Slot& slot = partner.slots[partner.head];
  BlockHeader header{};
  if (bytes >= sizeof header) std::memcpy(&header, slot.memory, sizeof header);
  if (bytes < sizeof header || header.number != partner.blocks_in ||
      header.bytes != bytes - sizeof header)
    return lose(partner, "what it sends are not the blocks of a stream in order");
  if (header.kind == kAbandoned) return lose(partner, "it left MPI with the stream open");
  if (header.kind == kClosed) {
    partner.in_open = false;
    stop_receiving(partner);
    return 0;
  }
  if (data != nullptr) std::memcpy(data, slot.memory + sizeof header, header.bytes);
  ++partner.blocks_in;
  const size_t posted = partner.head;
  partner.head = (partner.head + 1) % partner.slots.size();
  const int code = post(partner, posted);
  return code < 0 ? code : static_cast<int64_t>(header.bytes);
}

// One look at each writer, in the order of the balance: what take() says of the first that has
// something to say.
int64_t Stream::sweep(void* data, int* from, bool* any_open) {
  *any_open = false;
  const size_t begin = options_.balance == Balance::kRoundRobin ? next_in_
                       : options_.balance == Balance::kRandom   ? random_index()
                                                                : 0;
  for (size_t i = 0; i < partners_.size(); ++i) {
    const size_t place = (begin + i) % partners_.size();
    Partner& partner = *partners_[place];
    if (!partner.in_open) continue;
    bool nothing = false;
    const int64_t got = take(partner, data, &nothing);
    if (partner.in_open) *any_open = true;
    if (nothing || got == 0) continue;
    if (from != nullptr) *from = partner.rank;
    next_in_ = (place + 1) % partners_.size();
    return got;
  }
  return 0;
}

int64_t Stream::read(void* data, bool wait, int* from) {
  if (!reads_) return fail(REFRAIN_EINVALID, "the stream is not open for reading");
  for (int round = 0;; ++round) {
    bool any_open = false;
    const int64_t got = sweep(data, from, &any_open);
    if (got != 0 || !any_open) return got;
    if (const int code = look_who_lives(); code < 0) return code;
    if (!wait) return fail(REFRAIN_EAGAIN, "no writer has a block");
    transport_.pause(round);
  }
}

// -- partners that died --

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
    void* const memory = std::malloc(sizeof(BlockHeader) + options_.block_bytes);
    if (memory == nullptr) return fail(REFRAIN_ENOMEM, "no memory for blocks to write");
    out = {static_cast<char*>(memory), Transport::kNone, nullptr};
  }
  dead_.push_back(partner.rank);
  return fail(REFRAIN_EDIED, "rank " + std::to_string(partner.rank) + " died: " + how);
}

void Stream::stop_receiving(Partner& partner) {
  for (Slot& slot : partner.slots) {
    if (slot.request != Transport::kNone) transport_.cancel(slot.request);
    std::free(slot.memory);
  }
  partner.slots.clear();
  if (partner.lost && partner.greeting_receive != Transport::kNone) {
    transport_.cancel(partner.greeting_receive);
    partner.greeting_receive = Transport::kNone;
  }
}

// -- closing --

// While this end waits, it throws away what others send it: they may wait for us.
int Stream::end_partner(Partner& partner, Ending ending) {
  for (int round = 0; partner.out_open; ++round) {
    bool ready = false;
    Out* out = nullptr;
    int code = greet(partner, &ready);
    if (code == 0 && ready) code = free_out(&out);
    if (code < 0 && partner.out_open) continue;  // that was another one
    if (code < 0) return code;
    if (out != nullptr) {
      partner.out_open = false;
      return send(partner, *out, ending == Ending::kClosed ? kClosed : kAbandoned, nullptr, 0);
    }
    bool any_open = false;
    if (sweep(nullptr, nullptr, &any_open) > 0) round = 0;
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
    if (sweep(nullptr, nullptr, &open) > 0) round = 0;
    Out* out = nullptr;
    static_cast<void>(free_out(&out));
    for (const Out& o : outs_) open |= o.request != Transport::kNone;
    for (const std::unique_ptr<Partner>& partner : partners_) {
      if (partner->lost) continue;
      const int code = greet(*partner, &ready);
      if (code < 0 && first == 0) first = code;
      open |= partner->greeting_send != Transport::kNone ||
              partner->greeting_receive != Transport::kNone;
    }
    if (!open) return first;
    static_cast<void>(look_who_lives());
    transport_.pause(round);
  }
}

int Stream::close(Ending ending) {
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
