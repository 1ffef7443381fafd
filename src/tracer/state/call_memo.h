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

struct CallMemo {
  static constexpr size_t kMaxWords = 256;

  const SeenPath* path = nullptr;  // where the call came from, if that still holds
  uint32_t path_definition = 0;
  uint64_t handle_changes = 0;
  TerminalStats stats;              // but for the count: see statistics()
  RequestEntry* request = nullptr;  // what the call makes, if it makes one
  mpi::CallId call = 0;             // 0: only counts; nothing is remembered
  uint16_t count = 0;               // of words
  uint16_t room = 0;
  uint64_t* words = nullptr;  // `room` of them
  uint64_t histogram[TerminalStats::kBuckets] = {};

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
    return ((sizeof...(I) ^ count) | ... | (words[I] ^ static_cast<uint64_t>(given))) == 0;
  }

  // What the call looked like this time. False, and nothing changed, when there is no memory.
  bool remember(mpi::CallId id, const SeenPath& from, uint64_t changes, const uint64_t* given,
                size_t n);
};

// Memos by terminal; null until this location has made its second call of one. One comparison and
// one load to look.
class CallMemos {
 public:
  CallMemo* find(uint64_t terminal) const { return terminal < size_ ? memos_[terminal] : nullptr; }
  uint32_t size() const { return static_cast<uint32_t>(size_); }
  // The memo of a terminal, made if there is none; null without memory.
  CallMemo* make(uint32_t terminal);
  template <class F>
  void for_each(F f) {
    for (CallMemo* const m : room_)
      if (m != nullptr) f(*m);
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
      delete[] m->words;
      delete m;
    }
    std::vector<CallMemo*>().swap(room_);
    memos_ = nullptr;
    size_ = 0;
  }

 private:
  CallMemo** memos_ = nullptr;
  uint64_t size_ = 0;
  std::vector<CallMemo*> room_;
};

}  // namespace refrain::tracer
