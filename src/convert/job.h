// Job: what every format needs of one conversion.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "convert/convert.h"
#include "text/site_names.h"

namespace refrain::convert {

class Job {
 public:
  Job(const Trace& trace, const Options& options, const Progress& progress, Outcome& out);

  const Trace& trace;
  const Options& options;
  Outcome& out;
  std::vector<Rank> ranks;  // the chosen ones that the trace has, ascending
  text::SiteNames sites;

  // Position of a rank among the chosen ones; -1: it is not one of them.
  int64_t position(Rank rank) const;
  bool has_all_ranks() const { return ranks.size() == static_cast<size_t>(trace.rank_count()); }
  // Where temporary files go: beside the output.
  std::string folder() const;
  // Of Options::memory: tables of channels may take a half, and no more than three sorts outside of
  // memory are in use at a time.
  size_t sort_bytes() const { return options.memory / 8; }
  // Whether a call is in the window of time.
  bool is_in_window(uint64_t begin_ns, uint64_t end_ns) const {
    return end_ns >= options.from_ns && begin_ns <= options.to_ns;
  }
  void not_held(std::string_view what, uint64_t count = 1) {
    if (count > 0) out.not_held[std::string(what)] += count;
  }
  // Of the calls that are walked, in all passes together.
  void expect_passes(unsigned passes) { passes_ = passes, all_calls_ = done_ + passes * calls_; }
  // A pass was given up: all of them are still to come.
  void begin_again() { expect_passes(passes_); }
  void tick() {
    if ((++done_ & 0xfff) == 0 && progress_) progress_(done_, all_calls_);
  }

 private:
  const Progress& progress_;
  std::vector<int64_t> positions_;
  uint64_t calls_ = 0, all_calls_ = 0, done_ = 0;
  unsigned passes_ = 1;
};

// Tables that were given up are for the sorts that follow, not for tables to come.
void give_back_memory();

// One function a format; those behind #if need a library that a machine may lack.
Status write_csv(Job& job);
#if REFRAIN_WITH_SQLITE
Status write_sqlite(Job& job);
#endif
#if REFRAIN_WITH_OTF2
Status write_otf2(Job& job);
#endif
#if REFRAIN_WITH_PROTOZERO
Status write_perfetto(Job& job);
#endif
Status write_ti(Job& job);
Status write_paraver(Job& job);
Status write_goal(Job& job);

}  // namespace refrain::convert
