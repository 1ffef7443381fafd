// CallMemo: the arguments of a call of one terminal before encoding, and its durations.
//
// Picture: in a loop the grammar knows which terminal comes next. Its memo has the arguments as the
// program passed them. If they are the same again, and no handle was created or freed since, the
// signature is the same, and nothing has to be encoded, hashed or looked up.
//
//     grammar.expected() -> memo -> same words? -> count the duration, move the grammar's cursor
//
// Laws: a memo belongs to one location, so counting in it takes no lock. Freed by that location.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "mpi/call_table.h"

namespace refrain::tracer {

struct RequestEntry;
struct SeenPath;

// Duration statistics, in ticks of the clock.
struct TerminalStats {
  static constexpr int kBuckets = 64;
  static int bucket(uint64_t ticks) { return std::bit_width(ticks | 1) - 1; }

  void count_one(uint64_t ticks) {
    ++count;
    add(ticks);
  }
  void add(uint64_t ticks) {
    sum_ticks += ticks;
    if (ticks < min_ticks) min_ticks = ticks;
    if (ticks > max_ticks) max_ticks = ticks;
  }

  uint64_t count = 0;
  uint64_t min_ticks = UINT64_MAX, max_ticks = 0;
  uint64_t sum_ticks = 0;
};

// In the order in which a call reads it: where ranks share cores, what it reads has left the cache
// since the last call, and each line costs more than all instructions together.
struct alignas(64) CallMemo {
  static constexpr size_t kMaxWords = 256;
  static constexpr size_t kWordsInside = 7;

  const SeenPath* path = nullptr;  // where the call came from, if that still holds
  uint64_t handle_changes = 0;
  uint32_t path_definition = 0;
  mpi::CallId call = 0;  // 0: only counts; nothing is remembered
  uint16_t count = 0;    // of words
  TerminalStats stats;   // but for the count: see statistics()
  uint64_t* words = inside;
  uint64_t inside[kWordsInside] = {};
  RequestEntry* request = nullptr;  // what the call makes, if it makes one
  uint64_t histogram[TerminalStats::kBuckets] = {};
  uint16_t room = kWordsInside;

  CallMemo() = default;
  ~CallMemo() { forget_words(); }
  CallMemo(const CallMemo&) = delete;
  CallMemo& operator=(const CallMemo&) = delete;

  void count_one(uint64_t ticks) {
    stats.add(ticks);
    ++histogram[TerminalStats::bucket(ticks)];
  }
  TerminalStats statistics() const {
    TerminalStats s = stats;
    for (const uint64_t n : histogram) s.count += n;
    return s;
  }

  bool same_words(const uint64_t* given, size_t n) const {
    uint64_t differences = n ^ count;
    for (size_t i = 0; i < n && differences == 0; ++i) differences = words[i] ^ given[i];
    return differences == 0;
  }
  template <size_t... I, class... W>
  bool same_words(std::index_sequence<I...>, W... given) const {
    const uint64_t* const all = sizeof...(I) <= kWordsInside ? inside : words;
    return ((sizeof...(I) ^ count) | ... | (all[I] ^ static_cast<uint64_t>(given))) == 0;
  }

  // What the call looked like this time. False, and nothing changed, when there is no memory.
  bool remember(mpi::CallId id, const SeenPath& from, uint64_t changes, const uint64_t* given,
                size_t n);

 private:
  void forget_words() {
    if (words != inside) delete[] words;
  }
};

// Memos by terminal; null until this location has made its second call of one. One comparison and
// one load to look.
class CallMemos {
 public:
  CallMemos() = default;
  CallMemos(const CallMemos&) = delete;
  CallMemos& operator=(const CallMemos&) = delete;
  ~CallMemos() {
    clear([](RequestEntry&) {});
  }
  CallMemo* find(uint64_t terminal) const { return terminal < size_ ? memos_[terminal] : nullptr; }
  uint32_t size() const { return static_cast<uint32_t>(size_); }
  // The memo of a terminal, made if there is none; null without memory.
  CallMemo* make(uint32_t terminal);
  template <class F>
  void for_each(F f) {
    for (CallMemo* const m : room_)
      if (m != nullptr) f(*m);
  }
  // Before a call of MPI that may turn out to be of this terminal: what will be compared is read
  // from memory while MPI works. There may be no memo.
  [[gnu::always_inline]] void fetch(uint64_t terminal) const {
    if (terminal >= size_) return;
    const auto memo = reinterpret_cast<uintptr_t>(memos_[terminal]);
    __builtin_prefetch(reinterpret_cast<const void*>(memo));
    __builtin_prefetch(reinterpret_cast<const void*>(memo + alignof(CallMemo)));
  }
  // Bytes that the next terminal may make it ask for at once; 0: none.
  size_t next_growth() const {
    return room_.size() == room_.capacity() ? 2 * room_.size() * sizeof(void*) : 0;
  }
  // Forgets all; visit(request) for each place that a memo has for a request.
  template <class Visit>
  void clear(Visit visit) {
    for (CallMemo* m : room_) {
      if (m == nullptr) continue;
      if (m->request != nullptr) visit(*m->request);
      m->~CallMemo();
    }
    std::vector<CallMemo*>().swap(room_);
    forget_blocks();
    memos_ = nullptr;
    size_ = 0;
  }

 private:
  // Memory of several, at the beginning of cache lines.
  struct Block {
    Block* before;
    std::byte* next;  // free from here
    size_t left;      // as many
  };
  void* room_for_one();
  void forget_blocks();

  CallMemo** memos_ = nullptr;
  uint64_t size_ = 0;
  std::vector<CallMemo*> room_;
  Block* block_ = nullptr;
};

}  // namespace refrain::tracer
