// Scope: the ranks and the window of time that are read rank by rank, the memory limit, and counts
// of what was met on the way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "refrain/trace.h"

namespace refrain::events {

// What walks met.
struct Tally {
  uint64_t calls = 0;
  // Ends of point-to-point messages, collective calls.
  uint64_t sends = 0, receives = 0, collectives = 0;
  // What has no place in what is made of the calls, or an approximate one: how often, by what.
  std::map<std::string, uint64_t> not_held;
};

// `done` of `all` calls; called every few thousand of them.
using Progress = std::function<void(uint64_t done, uint64_t all)>;

class Scope {
 public:
  struct Choice {
    std::vector<Rank> ranks;  // ascending, each once; empty: all
    // Calls that end at from_ns or later and begin at to_ns or earlier.
    uint64_t from_ns = 0, to_ns = UINT64_MAX;
    // What tables of channels and of tags, and sorts outside of memory, may take together.
    size_t memory_bytes = size_t{256} << 20;
    std::string folder;  // where temporary files go
  };

  // All of these outlive it.
  Scope(const Trace& trace, Choice choice, const Progress& progress, Tally& tally);

  const Trace& trace;
  Tally& tally;
  std::vector<Rank> ranks;  // the chosen ones that the trace has, ascending

  // Position of a rank among the chosen ones; -1: it is not one of them.
  int64_t position(Rank rank) const;
  const std::string& folder() const { return choice_.folder; }
  size_t memory_bytes() const { return choice_.memory_bytes; }
  // Tables of channels may take a half, and no more than three sorts outside of memory are in use
  // at a time.
  size_t sort_bytes() const { return choice_.memory_bytes / 8; }
  // Whether a call is in the window of time.
  bool is_in_window(uint64_t begin_ns, uint64_t end_ns) const {
    return end_ns >= choice_.from_ns && begin_ns <= choice_.to_ns;
  }
  void not_held(std::string_view what, uint64_t count = 1) {
    if (count > 0) tally.not_held[std::string(what)] += count;
  }
  // Of the calls that are walked, in all passes together.
  void expect_passes(unsigned passes) { passes_ = passes, all_calls_ = done_ + passes * calls_; }
  // A pass was given up: all of them are still to come.
  void begin_again() { expect_passes(passes_); }
  void tick() {
    if ((++done_ & 0xfff) == 0 && progress_) progress_(done_, all_calls_);
  }

 private:
  Choice choice_;
  const Progress& progress_;
  std::vector<int64_t> positions_;
  uint64_t calls_ = 0, all_calls_ = 0, done_ = 0;
  unsigned passes_ = 1;
};

// Tables that were given up are for the sorts that follow, not for tables to come.
void give_back_memory();

}  // namespace refrain::events
