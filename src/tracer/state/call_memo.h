// CallMemo: the arguments of a call of one terminal before encoding, and its durations.
//
// Picture: in a loop the grammar knows which terminal comes next. Its memo has the arguments as the
// program passed them. If they are the same again, and no handle was created or freed since, the
// signature is the same, and nothing has to be encoded, hashed or looked up.
//
//     grammar.expected() -> memo -> same words? -> count the duration, move the grammar's cursor
//
// A call that the grammar does not expect may still be one that was made before: MemoIndex finds
// its memo by its words.
//
// Laws: a memo belongs to one location, so counting in it takes no lock. Freed by that location.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "mpi/call_table.h"
#include "tracer/state/memo_index.h"

namespace refrain::tracer {

struct RequestEntry;
struct SeenPath;

// Duration statistics, in ticks of the clock.
struct TerminalStats {
  static constexpr unsigned kBuckets = 64;
  static unsigned bucket(uint64_t ticks) { return bucket_of_some(ticks | 1); }
  static unsigned bucket_of_some(uint64_t ticks) {  // not 0
    return static_cast<unsigned>(__builtin_clzll(ticks)) ^ (kBuckets - 1);
  }

  uint64_t count = 0;
  uint64_t min_ticks = UINT64_MAX, max_ticks = 0;
  uint64_t sum_ticks = 0;
  uint64_t histogram[kBuckets] = {};  // by log2
};

// In the order in which a call reads it: where ranks share cores, what it reads has left the cache
// since the last call, and each line costs more than all instructions together. Small, as a program
// may make hundreds of thousands of calls twice.
struct alignas(64) CallMemo {
  static constexpr size_t kMaxWords = 256;
  static constexpr size_t kWordsInside = 7;
  static constexpr unsigned kWindow = 14;  // of buckets: durations up to 8000 times the shortest
  static constexpr unsigned kMostTicksBits = 32;  // of what the window counts

  const SeenPath* path = nullptr;  // where the call came from, if that still holds
  uint64_t handle_changes = 0;
  uint32_t path_definition = 0;
  mpi::CallId call = 0;  // 0: only counts; nothing is remembered
  uint16_t count = 0;    // of words
  uint64_t min_ticks = UINT64_MAX, max_ticks = 0, sum_ticks = 0;
  uint64_t* words = inside;
  uint16_t room = kWordsInside;
  uint8_t window_begin = kNoWindow;  // the bucket of window[0]
  uint32_t terminal = 0;
  uint64_t inside[kWordsInside] = {};
  RequestEntry* request = nullptr;  // what the call makes, if it makes one
  uint32_t window[kWindow] = {};    // calls by log2(ticks), from window_begin on
  uint64_t* beside = nullptr;       // all buckets: what the window has no place for; or null

  CallMemo() = default;
  ~CallMemo() {
    forget_words();
    delete[] beside;
  }
  CallMemo(const CallMemo&) = delete;
  CallMemo& operator=(const CallMemo&) = delete;

  void count_one(uint64_t ticks) {
    if (!count_in_window(ticks)) [[unlikely]]
      count_beside(ticks);
  }
  // False: all but its bucket, which count_beside() is to count. What takes 2^kMostTicksBits or
  // longer is never in the window.
  bool count_in_window(uint64_t ticks) {
    return count_in_window(ticks, TerminalStats::bucket(ticks));
  }
  bool count_in_window(uint64_t ticks, unsigned bucket) {
    sum_ticks += ticks;
    if (ticks < min_ticks) min_ticks = ticks;
    if (ticks > max_ticks) max_ticks = ticks;
    const unsigned at = bucket - window_begin;
    return at < kWindow && ++window[at] != 0;
  }
  void count_beside(uint64_t ticks);
  TerminalStats statistics() const;

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
  static constexpr uint8_t kNoWindow = 128;

  bool has_beside();  // makes it; false: no memory
  void lower_window(unsigned begin);
  void forget_words() {
    if (words != inside) delete[] words;
  }
};
static_assert(sizeof(CallMemo) == 3 * alignof(CallMemo));

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
    __builtin_prefetch(reinterpret_cast<const void*>(memo + 2 * alignof(CallMemo)));
  }
  bool has_known() const { return !index_.empty(); }
  // By MemoIndex::hash(): one that may be of a call that looks like that; null: none is known.
  CallMemo* known(uint64_t hash) const { return index_.find(hash); }
  void know(uint64_t hash, CallMemo& memo) { index_.put(hash, &memo, made_); }
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
    index_.clear();
    memos_ = nullptr;
    size_ = made_ = 0;
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
  size_t made_ = 0;  // memos that there are
  MemoIndex index_;
};

}  // namespace refrain::tracer
