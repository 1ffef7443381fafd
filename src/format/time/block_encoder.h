// BlockEncoder: times of calls -> blocks of the time section. For the recorder: no exceptions.
//
//   BlockEncoder encoder(spec);
//   encoder.set_call(terminal, call_id);                     // once per new terminal
//   TimeBlock block = encoder.encode(calls, bytes);          // appends to bytes
//
// One BlockEncoder for each location, blocks in order: it remembers when each signature was called
// last, because the bound is relative to that. Cost: docs/decisions/ has the instructions a call.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "format/time/data.h"

namespace refrain::format {

class BlockEncoder {
 public:
  // `spec` must have times.
  explicit BlockEncoder(TimeSpec spec);
  BlockEncoder(BlockEncoder&&) noexcept;
  BlockEncoder& operator=(BlockEncoder&&) noexcept;
  ~BlockEncoder();

  // The function of a terminal. Must be said before the first call with it is encoded: what the
  // decoder expects depends on it.
  void set_call(uint32_t terminal, uint16_t call);

  // The calls to come are behind others that somebody else has encoded, the last of which ended
  // then; also when terminals are numbered anew. Nothing is known of signatures before.
  void begin_at(uint64_t end_ns);

  // 1 to kMaxCallsPerBlock calls, in the order of their ends. A clock that went backwards is set
  // right forwards: an end before the end before it is that end, a begin after its end is its end.
  // kCallsPerBlock calls at a time are best; fewer cost more bytes, more cost the reader more.
  // kByFunction: terminals are ids of functions. kPlain is for exact times.
  TimeBlock encode(std::span<const TimedCall> calls, std::string& bytes,
                   BlockCoding coding = BlockCoding::kBySignature);

  // Memory that it holds, in bytes.
  size_t memory_bytes() const;

 private:
  struct Impl;
  Impl* impl_;
};

}  // namespace refrain::format
