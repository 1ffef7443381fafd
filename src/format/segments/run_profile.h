// RunProfile: the result of reducing times, of one location or of many ranks: representatives, the
// ranks that have them, and counts. Profiles are united in pairs, in the order of the ranks: along
// the recorder's tree, or rank by rank in `refrain reduce`, with the same result.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "format/segments/cut.h"
#include "format/time/segments.h"
#include "similarity/segment_profile.h"
#include "similarity/store.h"

namespace refrain::format {

struct RunProfile {
  // GroupMember::rank is an index into `locations`, the context of a segment one into `contexts`.
  similarity::SegmentProfile profile;
  ContextNames contexts;
  std::vector<std::pair<uint64_t, uint32_t>> locations;  // rank, thread
  uint64_t segments = 0;
  uint64_t length_ns = 0;  // of all of them
  uint64_t loosenings = 0, spilled = 0;
  double threshold = 0;  // in force, the largest
  CutCounts counts;
  std::string problem;  // why there are no segments; empty: there are
};

// The only way in which `auto` shares representatives is one by one.
AcrossRanks effective(AcrossRanks across, const similarity::MethodSpec& method);

// Matches the segments of one location.
class LocationMatcher {
 public:
  explicit LocationMatcher(const similarity::StoreOptions& how) : store_(how, &builder_) {}
  similarity::SegmentStore::Match segment(const similarity::SegmentView& s) {
    too_long_ = too_long_ || s.length_ns() >= static_cast<double>(kMaxSegmentNs);
    return store_.match(s);
  }
  uint64_t segments() const { return store_.report().segments; }
  size_t memory_bytes() const { return store_.memory_bytes() + builder_.memory_bytes(); }
  // Once, at the end; the context numbers of the segments are those of `names`. Fails when segments
  // did not fit into the memory, or take longer than can be written.
  base::Result<RunProfile> finish(uint64_t rank, uint32_t thread, const ContextNames& names,
                                  const CutCounts& counts);

 private:
  similarity::SegmentProfileBuilder builder_;
  similarity::SegmentStore store_;
  bool too_long_ = false;
};

// The structures of groups, from those of their segments, and the length of all segments.
void sum_groups(RunProfile& profile);

// Unites `from` into `into`, whose locations come first.
void unite(RunProfile* into, RunProfile from, const similarity::MethodSpec& method,
           AcrossRanks across);

// Profiles in order, united like the digits of a counter are carried: as often as the logarithm of
// their number, not as often as there are profiles; the tree is that of the recorder's ranks.
class Uniter {
 public:
  Uniter(const similarity::MethodSpec& method, AcrossRanks across)
      : method_(method), across_(across) {}
  void add(RunProfile profile);
  RunProfile finish();

 private:
  void unite_last();
  similarity::MethodSpec method_;
  AcrossRanks across_;
  std::vector<std::pair<int, RunProfile>> levels_;
};

// Bytes that travel between ranks; only for the same build. parse_profile() is total.
std::string serialise(const RunProfile& profile);
base::Result<RunProfile> parse_profile(std::string_view bytes);

}  // namespace refrain::format
