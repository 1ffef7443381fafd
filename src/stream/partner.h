// The parts of a stream's end, and what travels between two ends. For stream.cc alone.
#pragma once

#include <cstdint>
#include <vector>

#include "refrain/coupling.h"
#include "stream/stream.h"

namespace refrain::stream {

// In front of every block.
struct BlockHeader {
  uint32_t kind;
  uint32_t number;  // of this writer for this reader; wraps around
  uint64_t bytes;
};
enum BlockKind : uint32_t { kBlock = 1, kClosed = 2, kAbandoned = 3 };

// A receive may need some calls of MPI until it has what was sent long ago.
constexpr int kLooksAfterDeath = 64;

// A block to come.
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
  bool greeted = false;
  bool gone = false;  // the process is not there any more; what it sent may be
  bool lost = false;  // and that was said
  int looks_since_gone = 0;
  Greeting own, other;
  Transport::Request greeting_send = Transport::kNone, greeting_receive = Transport::kNone;
  std::vector<Slot> slots;  // posted; that at `head` is filled first
  size_t head = 0;
  uint32_t blocks_in = 0, blocks_out = 0;
};

// A block on its way out; free when there is no request.
struct Stream::Out {
  char* memory;
  Transport::Request request;
  Partner* to;
};

}  // namespace refrain::stream
