// When two ranks synchronised last: where the interval begins in which a delay is looked for.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "analysis/waits/comms.h"
#include "analysis/waits/flat_map.h"

namespace refrain::analysis::waits {

class Synchronisations {
 public:
  void resize(size_t ranks) { by_rank_.resize(ranks); }

  // A message, or the like: at `a_ns` for a and at `b_ns` for b.
  void pair(Rank a, uint64_t a_ns, Rank b, uint64_t b_ns) {
    if (a > b) std::swap(a, b), std::swap(a_ns, b_ns);
    Times& times = pairs_[static_cast<uint64_t>(a) << 32 | static_cast<uint64_t>(b)];
    if (std::pair(a_ns, b_ns) >= std::pair(times.a, times.b)) times = {a_ns, b_ns};
  }
  // All ranks of a communicator, at `ns`; told once, by the rank `me`, and noted for each.
  void all(CommKey comm, uint64_t ns) {
    if (comm >= comms_.size()) comms_.resize(size_t{comm} + 1);
    Recent& recent = comms_[comm];
    if (recent.last == ns) return;
    recent.before = recent.last;
    recent.last = ns;
  }
  // `me` takes part in synchronisations of `comm`.
  void member(Rank me, CommKey comm) {
    std::vector<CommKey>& comms = by_rank_[static_cast<size_t>(me)];
    for (size_t i = 0; i < comms.size(); ++i)
      if (comms[i] == comm) {
        if (i > 0) std::swap(comms[i], comms[i - 1]);  // what is used much comes to the front
        return;
      }
    if (comms.size() >= kMostComms) comms.pop_back();
    comms.push_back(comm);
  }

  struct Since {
    uint64_t a = 0, b = 0;
  };
  // The last one of a and b that was before `until` for a.
  Since last(Rank a, Rank b, uint64_t until, const CommTable& comms) const {
    Since out;
    const bool swapped = a > b;
    const Times* known = pairs_.find(static_cast<uint64_t>(swapped ? b : a) << 32 |
                                     static_cast<uint64_t>(swapped ? a : b));
    if (known != nullptr) {
      const Times& t = *known;
      out = swapped ? Since{t.b, t.a} : Since{t.a, t.b};
      if (out.a > until) out = {};
    }
    for (const CommKey comm : by_rank_[static_cast<size_t>(a)]) {
      if (comm >= comms_.size() || !comms.has_member(comm, b)) continue;
      const Recent& recent = comms_[comm];
      const uint64_t ns = recent.last <= until ? recent.last : recent.before;
      if (ns <= until && ns > out.a) out = {ns, ns};
    }
    return out;
  }

 private:
  static constexpr size_t kMostComms = 16;
  struct Times {
    uint64_t a = 0, b = 0;
  };
  struct Recent {
    uint64_t last = 0, before = 0;
  };
  FlatMap<uint64_t, Times> pairs_;
  std::vector<Recent> comms_;  // by key
  std::vector<std::vector<CommKey>> by_rank_;
};

}  // namespace refrain::analysis::waits
