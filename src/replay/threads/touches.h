// Touches: what a recorded call does to the things that threads of a rank may share.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "refrain/calls.h"
#include "replay/threads/thread_order.h"

namespace refrain::replay {

// By signature, found once. Uses the reader while it lives; one thread at a time.
class Touches {
 public:
  explicit Touches(RankReader& reader) : reader_(reader) {}
  const std::vector<Touch>& of(const Signature& signature);

 private:
  void add_objects(const Signature& s, std::vector<Touch>& out);
  void add_requests(const Signature& s, std::vector<Touch>& out);
  void add_turn(const Signature& s, std::vector<Touch>& out);
  void add_channel(const Signature& s, std::vector<Touch>& out);
  bool is_persistent(SignatureId maker);
  bool is_made_by_program(const Value& value) const;

  RankReader& reader_;
  std::unordered_map<SignatureId, std::vector<Touch>> known_;
};

// A request, by the call that made it.
Thing request_thing(SignatureId maker);

// Positions, among `count` requests, of those that a call has completed; `flag`: what it said.
std::vector<size_t> completed(const Signature& s, size_t count, bool& flag);

// The order of the threads of a rank: that of a rank with one thread has no waits. Reads the rank's
// calls a few times, one after the other.
ThreadOrder thread_order_of(const Trace& trace, Rank rank);

}  // namespace refrain::replay
