// Reads from a spool file the times when the recorder itself worked for long.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "base/bytes.h"
#include "format/places.h"  // for kPlace
#include "format/time/spec.h"
#include "format/trace_data.h"
#include "grammar/fold.h"

namespace refrain::format::spool {

class OwnPieces {
 public:
  // The record of one, behind its kind. False: damaged.
  bool read(base::ByteReader& in) {
    constexpr size_t kMost = size_t{1} << 20;
    const auto thread = static_cast<uint32_t>(in.varint());
    const uint64_t call = in.varint(), ns = in.varint();
    if (!in.ok() || ns_.size() >= kMost) return false;
    ns_[{thread, call}] = ns;
    return true;
  }

  // Of a thread with so many calls: what put() takes.
  uint64_t sum(uint32_t thread, uint64_t calls) const {
    uint64_t ns = 0;
    for (auto at = ns_.lower_bound({thread, 0}); at != ns_.end() && at->first.first == thread; ++at)
      if (at->first.second + 1 < calls) ns += at->second;
    return ns;
  }

  // Those behind a call that another one followed: what came later is behind the last event of the
  // thread. Work that was no piece is not known, and counts as the program's. Where they lie is
  // kept if times of single calls show it, as the recorder does.
  void put(RankRecord& r) const {
    const bool has_times = TimeSpec::of_run(r.text).has_times();
    for (const RankRecord::Thread& t : r.threads) {
      uint64_t calls = 0;
      if (!grammar::checked_length(t.grammar, &calls)) continue;
      OwnWork work{r.rank, t.thread, {}};
      for (auto at = ns_.lower_bound({t.thread, 0});
           at != ns_.end() && at->first.first == t.thread && at->first.second + 1 < calls; ++at) {
        const uint64_t ns = std::min(at->second, r.totals.outside_ns);
        r.totals.outside_ns -= ns;
        r.totals.own_ns += ns;
        work.pieces.push_back({at->first.second, ns});
      }
      if (has_times && !work.pieces.empty()) r.own_work.push_back(std::move(work));
    }
  }

 private:
  std::map<std::pair<uint32_t, uint64_t>, uint64_t> ns_;  // by thread and call
};

}  // namespace refrain::format::spool
