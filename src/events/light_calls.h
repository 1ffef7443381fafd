// LightCalls: calls that wait behind another one and that nothing has to be known of but their
// times. A manager asks millions of times whether a message has come, while the receive that it
// asks for waits to be told its message; each takes about four bytes here.
//
// A queue: what comes in first goes out first. The times of a call are kept in relation to the call
// before it, which may be one that is not here: whoever puts one in, or takes one out, says when
// that one ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"
#include "events/op.h"

namespace refrain::events {

// What the LightCalls of all ranks of an analysis may take: a manager of many may need all of it,
// and where each of thousands of ranks waits for anybody none gets much. Threads: one at a time.
struct LightRoom {
  size_t most_bytes = size_t{256} << 20;
  size_t used_bytes = 0;
};

class LightCalls {
 public:
  // Units: ns on any one clock.
  struct Times {
    uint64_t begin_ns = 0, end_ns = 0;
  };

  // `before_ns`: the end of the call before. The op outlives the queue.
  void push(Op& op, const Times& call, uint64_t before_ns) {
    put(uint64_t{number_of(op)});
    put(zigzag(call.begin_ns - before_ns));
    put(zigzag(call.end_ns - call.begin_ns));
  }
  // There must be one.
  Op* pop(Times& call, uint64_t before_ns) {
    Op* const op = ops_[get()];
    call.begin_ns = before_ns + unzigzag(get());
    call.end_ns = call.begin_ns + unzigzag(get());
    return op;
  }
  size_t bytes() const { return bytes_.size(); }

 private:
  static uint64_t zigzag(uint64_t v) { return base::zigzag(static_cast<int64_t>(v)); }
  static uint64_t unzigzag(uint64_t v) { return static_cast<uint64_t>(base::unzigzag(v)); }
  void put(uint64_t v) {
    for (; v >= 0x80; v >>= 7) bytes_.push_back(static_cast<uint8_t>(v | 0x80));
    bytes_.push_back(static_cast<uint8_t>(v));
  }
  uint64_t get() {
    uint64_t v = 0;
    for (unsigned shift = 0;; shift += 7) {
      const uint8_t byte = bytes_.front();
      bytes_.pop_front();
      v |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return v;
    }
  }
  // Those of a program are few.
  uint32_t number_of(Op& op) {
    if (&op == last_) return last_number_;
    const auto [known, is_new] = numbers_.try_emplace(&op, static_cast<uint32_t>(ops_.size()));
    if (is_new) ops_.push_back(&op);
    last_ = &op;
    return last_number_ = known->second;
  }

  std::deque<uint8_t> bytes_;
  std::vector<Op*> ops_;
  std::unordered_map<const Op*, uint32_t> numbers_;
  const Op* last_ = nullptr;
  uint32_t last_number_ = 0;
};

}  // namespace refrain::events
