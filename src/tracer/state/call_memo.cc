#include "tracer/state/call_memo.h"

#include <algorithm>
#include <new>
#include <utility>

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

namespace {

constexpr unsigned kBuckets = TerminalStats::kBuckets;

// Where a window begins that is to have a bucket, and some shorter ones.
unsigned begin_for(unsigned bucket) {
  constexpr unsigned kShorter = CallMemo::kWindow / 3;
  return std::min(bucket < kShorter ? 0 : bucket - kShorter,
                  CallMemo::kMostTicksBits - CallMemo::kWindow);
}

}  // namespace

// The 2^32nd call of a bucket of the window, and calls outside of it. Without memory these count in
// the nearest bucket that there is.
[[gnu::noinline, gnu::cold]] void CallMemo::count_beside(uint64_t ticks) {
  const unsigned bucket = TerminalStats::bucket(ticks);
  const bool is_full = bucket - window_begin < kWindow;
  if (!is_full) {
    if (window_begin == kNoWindow) window_begin = static_cast<uint8_t>(begin_for(bucket));
    if (bucket < window_begin) lower_window(begin_for(bucket));
    if (const unsigned at = bucket - window_begin; at < kWindow && window[at] != UINT32_MAX) {
      ++window[at];
      return;
    }
  }
  if (has_beside()) {
    beside[bucket] += is_full ? uint64_t{1} << 32 : 1;
    return;
  }
  uint32_t& nearest = window[is_full                 ? bucket - window_begin
                             : bucket < window_begin ? 0
                                                     : kWindow - 1];
  if (is_full) nearest = UINT32_MAX;
  if (!is_full && nearest != UINT32_MAX) ++nearest;
}

bool CallMemo::has_beside() {
  if (beside == nullptr) beside = new (std::nothrow) uint64_t[kBuckets]();
  return beside != nullptr;
}

// The first call is often the slowest by far, as nothing that it needs is in the cache.
void CallMemo::lower_window(unsigned begin) {
  const unsigned by = window_begin - begin;
  for (unsigned i = kWindow; i-- > 0;) {
    if (window[i] == 0) continue;
    if (i + by >= kWindow && !has_beside()) return;
    const uint32_t n = std::exchange(window[i], 0);
    i + by < kWindow ? window[i + by] = n : beside[window_begin + i] += n;
  }
  window_begin = static_cast<uint8_t>(begin);
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
    if (place == nullptr) return nullptr;
    m = new (place) CallMemo;
    m->terminal = terminal;
    ++made_;
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
