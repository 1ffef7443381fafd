// The parts of a stream's end, and what travels between two ends. For stream.cc and closing.cc
// alone.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "refrain/coupling.h"
#include "stream/block_memory.h"
#include "stream/stream.h"

namespace refrain::stream {

// What follows the last block, on the tag of greetings. It may overtake blocks: the stream ends
// when all of them are there.
enum EndKind : uint32_t { kClosed = 2, kAbandoned = 3 };
struct EndNote {
  uint64_t blocks;  // of this writer for this reader
  uint32_t kind;
  uint32_t zero;
};

// A receive may need some calls of MPI until it has what was sent long ago.
constexpr int kLooksAfterDeath = 64;

// Memory for a block to come; null while the caller has borrowed the block.
struct Slot {
  char* memory;
  Transport::Request request;
};

// The first message of each end.
struct Stream::Greeting {
  uint32_t version = REFRAIN_COUPLING_VERSION;
  uint8_t reads = 0, writes = 0;
  uint8_t zero[2] = {};
  uint64_t block_bytes = 0;
};

struct Stream::Partner {
  Partner(int rank_, int tag_) : rank(rank_), tag(tag_) {}

  const int rank, tag;
  bool in_open = false, out_open = false;  // more to come; more may be sent
  bool greeted = false, ended = false;     // what the other one said
  bool gone = false;                       // the process is not there any more; what it sent may be
  bool lost = false;                       // and that was said
  int looks_since_gone = 0;
  Greeting own, other;
  EndNote own_end{}, other_end{};
  Transport::Request greeting_send = Transport::kNone, greeting_receive = Transport::kNone;
  Transport::Request end_send = Transport::kNone, end_receive = Transport::kNone;
  std::vector<Slot> slots;
  std::deque<size_t> posted;  // places in slots; the first one is filled first
  uint64_t blocks_in = 0, blocks_out = 0;
};

// A block on its way out; free when there is no request and the caller does not fill it.
struct Stream::Out {
  char* memory;
  Transport::Request request;
  Partner* to;
  bool is_acquired;
};

}  // namespace refrain::stream
