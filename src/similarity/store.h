// SegmentStore: the segments of one location as representatives and a list of who stands for whom
// when (Mohror, section 4.2.2, figure 8), within a bound of memory.
//
// Runs inside the recorded program, at the end of every segment. Laws: no lock, no exception, no
// system call; no allocation for a segment that matches, amortised
//         growth elsewhere, and only memory_bytes() up to the bound; out of memory is an outcome.
// Budget: a segment of 12 events that matches the first representative that is tried, an event:
//         73 instructions for Euclidean, 135 for avgWave, 290 for auto, which looks at all bounds
//         (callgrind); with building it 8 to 17 ns (bench/similarity_bench.cc).
// Order:  representatives of a structure are tried from the one matched last to the one not matched
//         for longest. The thesis tries the oldest first: there is a match in both cases or in
//         none, and here it is found sooner.
//
// Beyond the thesis (which writes everything out when its memory is used up, and asks in 7.1.3 for
// something better): when there is no room for a new representative, the threshold is loosened step
// by step, and representatives that match under it are united, the one with more segments staying.
// What that costs is known for each of them: the error of a representative is never less than the
// largest difference between its stamps and those of any segment that it stands for. Only when
// the loosest threshold does not make room are representatives handed to the sink, those not
// matched for longest first; what the sink does not take is counted as lost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "grammar/pod_vector.h"
#include "similarity/method.h"
#include "similarity/segment.h"
#include "similarity/segment_cluster.h"

namespace refrain::similarity {

inline constexpr uint32_t kNoRepresentative = UINT32_MAX;

// One segment of the run: what stands for it, when it began, and how long it took. Where segments
// follow each other without gaps the length is in the next one's start; only auto needs it.
struct Instance {
  uint32_t id = kNoRepresentative;
  int64_t start_ns = 0;
  int64_t length_ns = 0;
};

struct RepresentativeView {
  uint32_t id = 0;  // by order of creation
  uint32_t context = 0;
  uint64_t structure = 0;
  uint64_t instances = 0;  // segments that it stands for
  // No stamp of those segments is further from the one here.
  double error_ns = 0;
  // The same, each in relation to the length of its segment (at least 1 ns): an upper bound.
  double relative_error = 0;
  double shortest_ns = 0;           // of the segments' lengths
  uint32_t elastic = kRigid;        // of auto: stretch() gives a segment's stamps
  bool elastic_is_decided = false;  // otherwise any interval would do
  std::span<const double> stamps;   // in whole ns; see SegmentView
  std::span<const double>
      cluster;  // segment_cluster.h, wide, for auto; narrow for iter_avg; else empty
};

// Takes what the store cannot keep. Called in the middle of match(); must not call the store.
// False: it was not taken, and is counted as lost.
class SegmentSink {
 public:
  virtual bool take_representative(const RepresentativeView& representative) = 0;
  virtual bool take_instances(std::span<const Instance> instances) = 0;
  // All instances of `from`, those taken already among them, are `to` from now on.
  virtual void united(uint32_t from, uint32_t to) = 0;

 protected:
  ~SegmentSink() = default;
};

struct StoreOptions {
  MethodSpec method;
  // Bounds memory_bytes(). While something grows, its old and its new form exist for a moment.
  size_t max_memory_bytes = SIZE_MAX;
  // The threshold in force is never more than this times the one asked for.
  double max_loosening = 16;
  // How many representatives of its structure a segment is compared with, the last matched ones.
  // Bounds the time that an irregular program pays; what would have matched a later one is added.
  uint32_t max_candidates = UINT32_MAX;
  // Of auto: see Tolerance.
  double noise_ns = 1000;
  double floor_share = 0.25;
};

struct StoreReport {
  uint64_t segments = 0;          // seen by match()
  uint64_t matches = 0;           // of them, such that a representative there was stands for
  uint64_t possible_matches = 0;  // all but the first one of each context and structure
  uint64_t representatives = 0;   // in the store
  double threshold = 0;           // in force; k for iter_k
  uint32_t loosenings = 0;
  uint64_t united = 0;  // representatives that another one stands for now
  uint64_t spilled_representatives = 0;
  uint64_t spilled_instances = 0;  // list entries that the sink has taken
  uint64_t lost_segments = 0;      // there is no representative, nor a list entry
  uint64_t lost_instances = 0;     // list entries that neither fitted nor were taken
  // Of all representatives, spilled ones included.
  double error_ns = 0;
  double relative_error = 0;

  // Section 5.1.4.2; 1 where nothing could match.
  double degree_of_matching() const {
    return possible_matches == 0
               ? 1
               : static_cast<double>(matches) / static_cast<double>(possible_matches);
  }
};

// One thread at a time. Deterministic: the same segments give the same ids.
class SegmentStore {
 public:
  enum class Outcome : uint8_t {
    kMatched,
    kAdded,
    kSpilled,  // added, and handed to the sink at once
    kLost,
  };
  // What a threshold of 0 is loosened to first; the absolute one in ns.
  static constexpr double kSmallThreshold = 0.01;
  static constexpr double kSmallAbsoluteThreshold = 1000;

  struct Match {
    Outcome outcome = Outcome::kLost;
    uint32_t id = kNoRepresentative;
  };

  // `sink` may be null; otherwise it outlives the store.
  explicit SegmentStore(const StoreOptions& options, SegmentSink* sink = nullptr);

  // The segment has stamps. They usually grow; where a clock went backwards they need not.
  Match match(const SegmentView& segment);

  // Hands the list of instances to the sink as far as it is here.
  void flush_instances();

  StoreReport report() const;
  size_t memory_bytes() const;

  // What is here, by increasing id, and the part of the list that the sink has not taken. `work` is
  // where the view's stamps may be put; it is valid until the next call with the same one.
  size_t representative_count() const { return reps_.size(); }
  bool representative(size_t index, grammar::PodVector<double>* work,
                      RepresentativeView* out) const;
  std::span<const Instance> instances() const {
    return {log_.empty() ? nullptr : &log_[0], log_.size()};
  }
  const StoreOptions& options() const { return options_; }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  struct Representative {
    uint32_t id = 0;
    uint32_t group = 0;
    uint32_t next = kNone;      // in the group, matched longer ago
    uint32_t forward = kNone;   // united with that one; only within unite_all()
    uint32_t elastic = kRigid;  // of clusters, where it is decided
    size_t offset = 0;          // into arena_
    uint64_t count = 0;
    uint64_t last_used = 0;
    double length_ns = 0;  // of its own stamps; for clusters unused
    double max_value = 0;  // of the vector that is compared
    double error_ns = 0;
    double relative_error = 0;
    double shortest_ns = 0;
  };
  // Segments that may match: equal context, structure and number of stamps.
  struct Group {
    uint32_t context = 0;
    uint32_t stamp_count = 0;
    uint64_t structure = 0;
    uint32_t first = kNone;
    uint32_t representatives = 0;
  };

  bool is_wave() const {
    return options_.method.method == Method::kAvgWave ||
           options_.method.method == Method::kHaarWave;
  }
  bool is_auto() const { return options_.method.method == Method::kAuto; }
  bool is_cluster() const { return is_auto() || options_.method.method == Method::kIterAvg; }
  size_t vector_size(size_t stamp_count) const;
  Tolerance tolerance() const { return {threshold_, options_.noise_ns, options_.floor_share}; }

  // store.cc
  uint32_t find_group(const SegmentView& segment);
  bool enter_group(const SegmentView& segment, uint32_t* group);
  uint64_t group_hash(uint32_t context, uint64_t structure, size_t stamps) const;
  void index_group(uint32_t group);
  bool prepare(const SegmentView& segment);
  uint32_t find_match(uint32_t group, const SegmentView& segment);
  bool representative_matches(const Representative& rep, const SegmentView& segment) const;
  uint32_t find_cluster(uint32_t group, size_t n, bool may_decide);
  uint32_t used_elastic(const Representative& rep) const;
  void absorb(uint32_t rep, const SegmentView& segment);
  void to_front(uint32_t rep, uint32_t before);
  bool add(uint32_t group, const SegmentView& segment);
  Match add_or_spill(const SegmentView& segment);
  void prepare_log();
  void log(uint32_t id, const SegmentView& segment);
  void describe(const Representative& rep, double* stamps, RepresentativeView* out) const;

  // store_bound.cc: the bound of memory
  template <class T>
  bool grow(grammar::PodVector<T>* vector, size_t needed);
  bool rehash(size_t slots);
  bool make_room();
  void unite_all();
  void unite_group(uint32_t group);
  bool may_unite(Representative* a, const Representative& b) const;
  void unite(uint32_t from, uint32_t into);
  uint32_t resolve(uint32_t rep) const;
  void rename_instances();
  void compact();
  void loosen();
  bool spill_oldest();
  bool hand_over(const Representative& rep);
  void drop_empty_groups();
  size_t used_bytes() const;

  StoreOptions options_;
  SegmentSink* sink_;
  double threshold_;  // in force; k for iter_k
  double max_threshold_;
  uint64_t clock_ = 0;  // segments seen
  uint32_t next_id_ = 0;
  StoreReport totals_;
  grammar::PodVector<double> arena_;         // the representatives' vectors, in their order
  grammar::PodVector<Representative> reps_;  // by increasing id
  grammar::PodVector<Group> groups_;
  grammar::PodVector<uint32_t> index_;  // open addressing: group + 1, 0: none; size() is 0
  grammar::PodVector<Instance> log_;
  size_t log_limit_;
  // The vector of the segment at hand: transform, or cluster of one. Its size() stays 0.
  grammar::PodVector<double> scratch_;
  double scratch_max_ = 0;
};

}  // namespace refrain::similarity
