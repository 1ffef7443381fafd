// MemoIndex: from what a call looks like to the memo of such a call.
//
// For a call that the grammar does not expect, as in programs that complete requests in the order
// in which messages come: what was made before in the same way has the same signature, which then
// has to be neither encoded nor hashed.
//
// Laws: an answer is a guess: the memo is compared with the call. What finds its place taken drives
// out what is there. One thread at a time. Without memory it stays as large as it is.
// Budget: 5 instructions a word; one cache line. 8 bytes a slot, two to four slots a memo.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace refrain::tracer {

struct CallMemo;

class MemoIndex {
 public:
  static constexpr size_t kMostSlots = 8192;

  // `call` and `path`: the function, and the definition of the call path.
  static uint64_t hash(uint32_t call, uint32_t path, const uint64_t* words, size_t n) {
    uint64_t h = (uint64_t{path} << 32 | call) * kFactor;
    for (size_t i = 0; i < n; ++i) h = std::rotr(h ^ words[i], 27) * kFactor;
    return h ^ h >> 32;
  }

  bool empty() const { return slots_ == nullptr; }
  CallMemo* find(uint64_t hash) const { return empty() ? nullptr : slots_[hash & mask_]; }
  // `memos`: how many there may be. What was known is found anew when the index grows.
  void put(uint64_t hash, CallMemo* memo, size_t memos) {
    if (2 * memos > mask_ && mask_ + 1 < kMostSlots) grow(memos);
    if (!empty()) slots_[hash & mask_] = memo;
  }
  void clear() {
    slots_.reset();
    mask_ = 0;
  }

 private:
  static constexpr uint64_t kFactor = 0x9e3779b97f4a7c15u;
  static constexpr size_t kLeastSlots = 128;

  [[gnu::noinline, gnu::cold]] void grow(size_t memos) {
    size_t wanted = kLeastSlots;
    while (wanted < kMostSlots && wanted < 4 * memos) wanted *= 2;
    auto** const more = new (std::nothrow) CallMemo*[wanted]();
    if (more == nullptr) return;
    slots_.reset(more);
    mask_ = wanted - 1;
  }

  std::unique_ptr<CallMemo*[]> slots_;
  size_t mask_ = 0;
};

}  // namespace refrain::tracer
