// Tags that another MPI does not have.
//
// An MPI has tags up to its MPI_TAG_UB, which is at least 32767 (MPI 4.1, section 9.1.2). A trace
// of one with longer tags is replayed with others in their place: equal ones for equal ones on all
// ranks, and none that the trace has itself.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "refrain/trace.h"

namespace refrain::replay::plan {

inline constexpr int64_t kLeastTagBound = 32767;

class TagMap {
 public:
  // For an MPI whose largest tag is `most`; that one is given to nobody. Looks at all calls of all
  // ranks: O(signatures of all ranks).
  TagMap(const Trace& trace, int64_t most);

  // Itself, where it is no longer than `most`; -1: there is none left for it.
  int64_t of(int64_t tag) const {
    if (tag <= most_) return tag;
    const auto known = others_.find(tag);
    return known == others_.end() ? -1 : known->second;
  }
  size_t size() const { return others_.size(); }

 private:
  int64_t most_;
  std::unordered_map<int64_t, int64_t> others_;
};

}  // namespace refrain::replay::plan
