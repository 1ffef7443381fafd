// SegmentProfile: the segments of many ranks as representatives, process groups, and the start of
// every segment (Mohror, section 4.2): what a reduced trace knows of time. Profiles of different
// ranks are united in pairs, in any tree.
//
// Not for the inside of calls: memory grows with the segments of the run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <vector>

#include "similarity/method.h"
#include "similarity/segment.h"
#include "similarity/store.h"

namespace refrain::similarity {

struct ProfileSegment {
  uint32_t context = 0;
  uint64_t structure = 0;
  uint64_t instances = 0;
  double error_ns = 0;  // no stamp of a segment that it stands for is further away
  double relative_error = 0;
  double shortest_ns = 0;
  uint32_t elastic = kRigid;  // of auto: stretch()
  bool elastic_is_decided = false;
  std::vector<double> stamps;
  std::vector<double> cluster;  // of auto, wide; otherwise empty
};

// A rank keeps the starts of its own segments. (In the thesis they must match as well, and a group
// has one list of them.)
struct GroupMember {
  uint32_t rank = 0;
  // Of each segment.
  std::vector<int64_t> starts_ns;
  std::vector<int64_t> lengths_ns;
};

// Ranks whose segments are, one after the other, the same representatives.
struct ProcessGroup {
  std::vector<uint32_t> sequence;  // index of a ProfileSegment, for each segment of a member
  uint64_t structure = 0;          // of the sequence: equal where contexts and structures are
  std::vector<GroupMember> members;
};

struct SegmentProfile {
  std::vector<ProfileSegment> segments;
  std::vector<ProcessGroup> groups;
  uint64_t ranks = 0;
  uint64_t segments_before = 0;  // representatives of all ranks before they were united
  uint64_t intra_matches = 0;
  uint64_t intra_possible = 0;
};

// The profile of one rank from its store; takes what the store hands over meanwhile.
class SegmentProfileBuilder final : public SegmentSink {
 public:
  bool take_representative(const RepresentativeView& representative) override;
  bool take_instances(std::span<const Instance> instances) override;
  void united(uint32_t from, uint32_t to) override { united_[from] = to; }

  // Of the list, most of what there is.
  size_t memory_bytes() const { return list_.size() * sizeof(Instance); }

  // Once, at the end. Segments that the store lost are in neither list.
  SegmentProfile finish(const SegmentStore& store, uint32_t rank);

 private:
  uint32_t resolve(uint32_t id) const;

  std::map<uint32_t, ProfileSegment> segments_;  // by id
  std::map<uint32_t, uint32_t> united_;
  // In pieces: a list of one piece would take up to twice as much, and three times while it grows.
  std::deque<Instance> list_;
};

enum class Uniting : uint8_t {
  // As in the thesis (section 4.2.3, figure 11): a rank joins a group when all of its segments
  // match
  // those of the group, in order; the group's representatives stand for it then.
  kGroups,
  // Ours: each representative for itself, into a common set; ranks of which only some segments are
  // alike share those. Ranks are a group where the sequences come out equal.
  kRepresentatives,
};

struct UniteOptions {
  MethodSpec method;
  Uniting uniting = Uniting::kGroups;
  double noise_ns = 1000;  // as in StoreOptions
  double floor_share = 0.25;
};

// Unites `from` into `into`, whose groups and representatives stay what and where they are. A rank
// is in one of them only. Under iter_k and iter_avg nothing matches between ranks; `auto` always
// works by representatives. Errors of representatives grow by what they newly stand for.
//
// Which group a rank joins may depend on the order where thresholds overlap, as it does in the
// thesis; that every rank's list is whole and every error is within what is said does not.
void unite(SegmentProfile* into, SegmentProfile from, const UniteOptions& options);

// Matches between ranks, and how many there could have been (5.1.4.2): for kGroups all ranks but
// one of each sequence of structures, for kRepresentatives all representatives but one of each
// context and structure.
struct InterMatches {
  uint64_t found = 0;
  uint64_t possible = 0;
};
InterMatches inter_matches(const SegmentProfile& profile, Uniting uniting);

// Found by possible ones, within and between processes together (section 5.4.1); 1 where there
// could be none.
double degree_of_matching(const SegmentProfile& profile, const InterMatches& inter);

// All segments of a member, in order, as they are known from the profile: stamps of the
// representatives at the recorded starts. f(const SegmentView&), whose stamps are valid within f.
template <class F>
void rebuild(const SegmentProfile& profile, const ProcessGroup& group, const GroupMember& member,
             F f) {
  std::vector<double> stamps;
  for (size_t i = 0; i < group.sequence.size(); ++i) {
    const ProfileSegment& s = profile.segments[group.sequence[i]];
    stamps = s.stamps;
    if (s.elastic != kRigid)
      stretch(s.stamps.data(), stamps.size(), s.elastic, static_cast<double>(member.lengths_ns[i]),
              stamps.data());
    f(SegmentView{s.context, s.structure, member.starts_ns[i], stamps});
  }
}

}  // namespace refrain::similarity
