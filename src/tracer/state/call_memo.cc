#include "tracer/state/call_memo.h"

#include <algorithm>
#include <new>

#include "tracer/state/seen_path.h"

namespace refrain::tracer {

bool CallMemo::remember(mpi::CallId id, const SeenPath& from, uint64_t changes,
                        const uint64_t* given, size_t n) {
  if (n > room) {
    auto* more = new (std::nothrow) uint64_t[n];
    if (more == nullptr) return false;
    forget_words();
    words = more;
    room = static_cast<uint16_t>(n);
  }
  for (size_t i = 0; i < n; ++i) words[i] = given[i];
  count = static_cast<uint16_t>(n);
  call = id;
  path = &from;
  path_definition = from.definition;
  handle_changes = changes;
  return true;
}

// Also the 2^32nd call of a bucket of the window. Without memory the call counts in the nearest
// bucket that there is.
[[gnu::noinline, gnu::cold]] void CallMemo::count_beside(uint64_t ticks) {
  constexpr unsigned kBuckets = TerminalStats::kBuckets, kShorter = kWindow / 3;
  const unsigned bucket = TerminalStats::bucket(ticks);
  if (window_begin == kNoWindow) {
    const unsigned begin = bucket < kShorter ? 0 : bucket - kShorter;
    window_begin = static_cast<uint8_t>(std::min(begin, kMostTicksBits - kWindow));
    if (bucket < kMostTicksBits) {
      window[bucket - window_begin] = 1;
      return;
    }
  }
  const unsigned at = bucket - window_begin;
  if (beside == nullptr) beside = new (std::nothrow) uint64_t[kBuckets]();
  if (beside != nullptr) {
    beside[bucket] += at < kWindow ? uint64_t{1} << 32 : 1;
    return;
  }
  uint32_t& nearest = window[at < kWindow ? at : bucket < window_begin ? 0 : kWindow - 1];
  nearest = std::max(nearest, nearest + 1);
  if (at < kWindow) nearest = UINT32_MAX;
}

TerminalStats CallMemo::statistics() const {
  TerminalStats s;
  s.min_ticks = min_ticks;
  s.max_ticks = max_ticks;
  s.sum_ticks = sum_ticks;
  for (unsigned i = 0; i < kWindow; ++i)
    if (window[i] > 0) s.histogram[window_begin + i] = window[i];
  for (unsigned b = 0; b < TerminalStats::kBuckets; ++b) {
    if (beside != nullptr) s.histogram[b] += beside[b];
    s.count += s.histogram[b];
  }
  return s;
}

CallMemo* CallMemos::make(uint32_t terminal) {
  if (terminal >= size_) {
    room_.resize(size_t{terminal} + 1, nullptr);
    memos_ = room_.data();
    size_ = room_.size();
  }
  CallMemo*& m = memos_[terminal];
  if (m == nullptr) {
    void* const place = room_for_one();
    if (place != nullptr) m = new (place) CallMemo;
  }
  return m;
}

void* CallMemos::room_for_one() {
  constexpr size_t kInBlock = 8;
  if (block_ == nullptr || block_->left == 0) {
    constexpr size_t kBytes = sizeof(Block) + alignof(CallMemo) + kInBlock * sizeof(CallMemo);
    void* const bytes = ::operator new(kBytes, std::nothrow);
    if (bytes == nullptr) return nullptr;
    auto* const block = new (bytes) Block{block_, nullptr, kInBlock};
    const auto end = reinterpret_cast<uintptr_t>(block + 1);
    block->next = reinterpret_cast<std::byte*>((end + alignof(CallMemo) - 1) / alignof(CallMemo) *
                                               alignof(CallMemo));
    block_ = block;
  }
  std::byte* const place = block_->next;
  block_->next += sizeof(CallMemo);
  --block_->left;
  return place;
}

void CallMemos::forget_blocks() {
  while (block_ != nullptr) {
    Block* const before = block_->before;
    ::operator delete(block_);
    block_ = before;
  }
}

}  // namespace refrain::tracer
