#include "similarity/store.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <vector>

#include "similarity/distance.h"

namespace refrain::similarity {
namespace {

using Stamps = std::vector<double>;

const Stamps kStored0 = {1, 20, 21, 49, 50};
const Stamps kStored1 = {1, 40, 41, 50, 51};
const Stamps kStored2 = {1, 17, 18, 48, 49};

SegmentView view(const Stamps& stamps, int64_t start_ns, uint64_t structure = 5,
                 uint32_t context = 1) {
  return {context, structure, start_ns, stamps};
}

StoreOptions with(const char* method) {
  StoreOptions options;
  options.method = *parse_method(method);
  return options;
}

// Everything there is of a run, wherever it went; ids as they are in the end.
class Everything final : public SegmentSink {
 public:
  bool refuse = false;
  std::map<uint32_t, Stamps> stamps;
  std::map<uint32_t, RepresentativeView> views;
  std::vector<Instance> list;
  std::map<uint32_t, uint32_t> forward;
  uint64_t spilled = 0;

  bool take_representative(const RepresentativeView& r) override {
    if (refuse) return false;
    ++spilled;
    keep(r);
    return true;
  }
  bool take_instances(std::span<const Instance> some) override {
    if (refuse) return false;
    list.insert(list.end(), some.begin(), some.end());
    return true;
  }
  void united(uint32_t from, uint32_t to) override { forward[from] = to; }

  void keep(const RepresentativeView& r) {
    stamps[r.id].assign(r.stamps.begin(), r.stamps.end());
    views[r.id] = r;
  }
  void collect(const SegmentStore& store) {
    grammar::PodVector<double> work;
    RepresentativeView r;
    for (size_t i = 0; i < store.representative_count(); ++i) {
      ASSERT_TRUE(store.representative(i, &work, &r));
      keep(r);
    }
    list.insert(list.end(), store.instances().begin(), store.instances().end());
  }
  uint32_t resolve(uint32_t id) const {
    for (auto at = forward.find(id); at != forward.end(); at = forward.find(id)) id = at->second;
    return id;
  }
};

// At the thresholds of the text, 0.5 and 20, s1 is just a match of s0 for relDiff and absDiff.
TEST(SegmentStore, TheExampleOfTheThesis) {
  for (const char* method : {"relDiff:0.45", "absDiff:19ns", "Manhattan:0.2", "Euclidean:0.2",
                             "Chebyshev:0.2", "avgWave:0.2"}) {
    SegmentStore store(with(method));
    EXPECT_EQ(store.match(view(kStored0, 0)).outcome, SegmentStore::Outcome::kAdded);
    EXPECT_EQ(store.match(view(kStored1, 50)).outcome, SegmentStore::Outcome::kAdded) << method;
    const auto third = store.match(view(kStored2, 101));
    EXPECT_EQ(third.outcome, SegmentStore::Outcome::kMatched) << method;
    EXPECT_EQ(third.id, 0u) << method;
    ASSERT_EQ(store.instances().size(), 3u);
    EXPECT_EQ(store.instances()[2].id, 0u);
    EXPECT_EQ(store.instances()[2].start_ns, 101);
    const StoreReport report = store.report();
    EXPECT_EQ(report.representatives, 2u);
    EXPECT_EQ(report.matches, 1u);
    EXPECT_EQ(report.possible_matches, 2u);
    EXPECT_EQ(report.degree_of_matching(), 0.5);
    EXPECT_EQ(report.error_ns, 3);  // 17 and 20
    EXPECT_DOUBLE_EQ(report.relative_error, 3.0 / 49);
  }
}

TEST(SegmentStore, KeepsKIterations) {
  SegmentStore three(with("iter_k:3"));
  SegmentStore two(with("iter_k:2"));
  for (const Stamps* s : {&kStored0, &kStored1, &kStored2}) {
    three.match(view(*s, 0));
    two.match(view(*s, 0));
  }
  EXPECT_EQ(three.representative_count(), 3u);
  EXPECT_EQ(two.representative_count(), 2u);
  // What is not kept is the last one that was (5.1.4.3, footnote).
  EXPECT_EQ(two.instances()[2].id, 1u);
  EXPECT_EQ(two.report().error_ns, 23);
}

TEST(SegmentStore, KeepsTheAverage) {
  SegmentStore store(with("iter_avg"));
  for (const Stamps* s : {&kStored0, &kStored1, &kStored2}) store.match(view(*s, 0));
  ASSERT_EQ(store.representative_count(), 1u);
  Everything all;
  all.collect(store);
  EXPECT_EQ(all.stamps[0], (Stamps{1, 26, 27, 49, 50}));  // 25.67, 26.67
  EXPECT_EQ(store.report().error_ns, 14);                 // 40 and 26
  EXPECT_EQ(store.report().degree_of_matching(), 1);
}

TEST(SegmentStore, OnlyEqualContextAndStructureMatch) {
  SegmentStore store(with("iter_avg"));
  store.match(view(kStored0, 0, 5, 1));
  store.match(view(kStored0, 0, 6, 1));
  store.match(view(kStored0, 0, 5, 2));
  const Stamps longer = {1, 20, 21, 49, 50, 51, 52};
  store.match(view(longer, 0, 5, 1));
  EXPECT_EQ(store.representative_count(), 4u);
  EXPECT_EQ(store.report().possible_matches, 0u);
  EXPECT_EQ(store.report().degree_of_matching(), 1);
  EXPECT_EQ(store.match(view(kStored2, 0, 6, 1)).id, 1u);
}

TEST(SegmentStore, SegmentsWithoutEventsAreSegments) {
  for (int m = 0; m < kMethodCount; ++m) {
    StoreOptions options;
    options.method = default_spec(static_cast<Method>(m));
    SegmentStore store(options);
    EXPECT_EQ(store.match(view({1000000}, 0)).outcome, SegmentStore::Outcome::kAdded);
    store.match(view({1000000}, 0));
    store.match(view({0}, 0));
    EXPECT_EQ(store.report().segments, 3u);
    EXPECT_EQ(store.instances().size(), 3u) << method_name(static_cast<Method>(m));
  }
}

TEST(SegmentStore, TriesNoMoreThanItMay) {
  for (const char* method : {"Euclidean", "auto"}) {
    StoreOptions options = with(method);
    options.max_candidates = 2;
    SegmentStore store(options);
    const auto kind = [&](double x) {
      return store.match(view({x, 2 * x, 3 * x + 1e6}, 0)).outcome;
    };
    for (const double x : {1e6, 1e7, 1e8}) EXPECT_EQ(kind(x), SegmentStore::Outcome::kAdded);
    for (const double x : {1e8, 1e7}) EXPECT_EQ(kind(x), SegmentStore::Outcome::kMatched);
    EXPECT_EQ(store.report().matches, 2u);
    EXPECT_EQ(kind(1e6), SegmentStore::Outcome::kAdded) << "the third one is not tried";
  }
}

// Segments of some structures, each of some kinds, with noise and now and then something new.
class Run {
 public:
  explicit Run(uint64_t seed, int structures, int kinds)
      : random_(seed), structures_(structures), kinds_(kinds) {}

  SegmentView next() {
    const uint64_t structure = random_() % static_cast<uint64_t>(structures_);
    const uint64_t kind = random_() % static_cast<uint64_t>(kinds_);
    std::mt19937_64 shape(structure * 1000 + kind);
    stamps_.assign(2 * (structure % 12) + 1, 0);
    double at = 0;
    for (double& s : stamps_) {
      at += static_cast<double>(100 + shape() % 20000) *
            (1 + 0.02 * static_cast<double>(random_() % 10));
      s = std::round(at);
    }
    start_ += static_cast<int64_t>(at) + 1;
    return {static_cast<uint32_t>(structure % 3), structure, start_, stamps_};
  }

 private:
  std::mt19937_64 random_;
  int structures_;
  int kinds_;
  int64_t start_ = 0;
  Stamps stamps_;
};

struct Kept {
  Stamps stamps;
  int64_t start_ns;
  bool lost;
};

// What holds for every method, seed and bound: the bound itself, every segment in the list exactly
// once, in order, with its start, or counted as lost; no stamp further from the representative than
// the reports say.
void check_run(const StoreOptions& options, bool with_sink, bool refuse, int structures, int kinds,
               uint64_t seed, StoreReport* out = nullptr) {
  Everything sink;
  sink.refuse = refuse;
  SegmentStore store(options, with_sink ? &sink : nullptr);
  Run run(seed, structures, kinds);
  std::vector<Kept> segments;
  for (int i = 0; i < 6000; ++i) {
    const SegmentView s = run.next();
    const auto match = store.match(s);
    segments.push_back({{s.stamps.begin(), s.stamps.end()},
                        s.start_ns,
                        match.outcome == SegmentStore::Outcome::kLost});
    ASSERT_LE(store.memory_bytes(), std::max(options.max_memory_bytes, sizeof(store)));
  }
  const StoreReport report = store.report();
  if (out != nullptr) *out = report;
  sink.collect(store);
  uint64_t lost = 0;
  for (const Kept& k : segments) lost += k.lost ? 1 : 0;
  EXPECT_EQ(lost, report.lost_segments);
  EXPECT_EQ(report.segments, segments.size());
  ASSERT_EQ(sink.list.size() + report.lost_segments + report.lost_instances, segments.size());
  EXPECT_LE(report.matches, report.possible_matches);
  if (report.lost_instances > 0) return;  // the list has holes that starts alone could fill
  std::map<uint32_t, uint64_t> counts;
  size_t at = 0;
  for (const Kept& k : segments) {
    if (k.lost) continue;
    const Instance& instance = sink.list[at++];
    ASSERT_EQ(instance.start_ns, k.start_ns);
    const uint32_t id = sink.resolve(instance.id);
    ++counts[id];
    ASSERT_TRUE(sink.stamps.contains(id)) << id;
    const Stamps& stamps = sink.stamps[id];
    ASSERT_EQ(stamps.size(), k.stamps.size());
    Stamps rebuilt = stamps;
    if (sink.views[id].elastic != kRigid)
      stretch(stamps.data(), stamps.size(), sink.views[id].elastic, k.stamps.back(),
              rebuilt.data());
    ASSERT_EQ(instance.length_ns, static_cast<int64_t>(k.stamps.back()));
    const double error = largest_difference(rebuilt, k.stamps);
    ASSERT_LE(error, sink.views[id].error_ns + 1e-6);
    ASSERT_LE(error, report.error_ns + 1e-6);
    ASSERT_LE(error / std::max(1.0, k.stamps.back()), sink.views[id].relative_error + 1e-12);
    ASSERT_LE(sink.views[id].relative_error, report.relative_error + 1e-12);
    ASSERT_GE(k.stamps.back(), sink.views[id].shortest_ns);
  }
  for (const auto& [id, count] : counts) ASSERT_EQ(count, sink.views[id].instances) << id;
}

TEST(SegmentStore, ErrorsAreWithinWhatIsReported) {
  for (int m = 0; m < kMethodCount; ++m) {
    StoreOptions options;
    options.method = default_spec(static_cast<Method>(m));
    SCOPED_TRACE(method_name(options.method.method));
    StoreReport report;
    check_run(options, false, false, 20, 5, 1, &report);
    EXPECT_EQ(report.loosenings, 0u);
    EXPECT_EQ(report.lost_segments + report.lost_instances, 0u);
    EXPECT_GT(report.matches, 1000u);
  }
}

TEST(SegmentStore, TheBoundHoldsAndNothingIsLostWithASink) {
  for (int m = 0; m < kMethodCount; ++m) {
    StoreOptions options;
    options.method = default_spec(static_cast<Method>(m));
    options.method.threshold *=
        m == 5 ? 10 : 0.01;  // hard: next to nothing matches; much of iter_k
    SCOPED_TRACE(method_name(options.method.method));
    for (const size_t kib : {8, 32, 128}) {
      options.max_memory_bytes = kib * 1024;
      StoreReport report;
      check_run(options, true, false, 30, 40, kib, &report);
      EXPECT_EQ(report.lost_segments, 0u);
      EXPECT_EQ(report.lost_instances, 0u);
      EXPECT_GT(report.spilled_instances, 0u);
      if (options.method.method != Method::kIterAvg && kib == 32) {
        EXPECT_GT(report.loosenings, 0u);
        EXPECT_GT(report.united, 0u);
      }
    }
  }
}

TEST(SegmentStore, WithoutASinkWhatDoesNotFitIsCounted) {
  uint64_t lost = 0;
  for (int m = 0; m < kMethodCount; ++m) {
    StoreOptions options;
    options.method = default_spec(static_cast<Method>(m));
    SCOPED_TRACE(method_name(options.method.method));
    for (const bool with_sink : {false, true}) {
      for (const size_t kib : {0, 1, 4, 64}) {
        options.max_memory_bytes = kib * 1024;
        StoreReport report;
        check_run(options, with_sink, true, 200, 40, kib, &report);
        lost += report.lost_segments + report.lost_instances;
      }
    }
  }
  EXPECT_GT(lost, 0u);
}

// Structures that never come back are bounded as well.
TEST(SegmentStore, StructuresThatDoNotReturnGoToTheSink) {
  StoreOptions options = with("Euclidean");
  options.max_memory_bytes = 16 * 1024;
  StoreReport report;
  check_run(options, true, false, 5000, 1, 3, &report);
  EXPECT_EQ(report.lost_segments, 0u);
  EXPECT_GT(report.spilled_representatives, 1000u);
}

// Before anything goes, thresholds are loosened; what goes then is what was not matched for long.
TEST(SegmentStore, RepresentativesThatStillMatchStay) {
  StoreOptions options = with("absDiff:10ns");
  options.max_memory_bytes = 16 * 1024;
  Everything sink;
  SegmentStore store(options, &sink);
  const Stamps steady = {100, 200, 300};
  const auto first = store.match(view(steady, 0));
  double at = 1e6;
  for (int i = 0; i < 20000; ++i) {
    ASSERT_EQ(store.match(view(steady, i)).id, first.id);
    at *= 1.001;
    store.match(view({1, at, at + 5}, i));
  }
  EXPECT_GT(sink.spilled, 0u);
  EXPECT_FALSE(sink.stamps.contains(first.id));
  EXPECT_EQ(store.report().threshold, 160);
}

TEST(SegmentStore, AThresholdOfZeroIsLoosenedAsWell) {
  StoreOptions options = with("absDiff:0");
  options.max_memory_bytes = 32 * 1024;
  Everything sink;
  SegmentStore store(options, &sink);
  for (int i = 0; i < 3000; ++i) store.match(view({1.0, static_cast<double>(i) + 1}, i));
  EXPECT_EQ(sink.spilled, 0u);
  EXPECT_EQ(store.report().threshold, 1000);
  EXPECT_GT(store.report().united, 100u);
}

TEST(SegmentStore, LoosensNoFurtherThanNeeded) {
  StoreOptions options = with("absDiff:10ns");
  options.max_memory_bytes = 32 * 1024;
  Everything sink;
  SegmentStore store(options, &sink);
  // 1000 values 15 apart: too many at 10, few enough at 15 or a little more.
  for (int i = 0; i < 3000; ++i)
    store.match(view({1.0, 15.0 * static_cast<double>((i * 7) % 1000) + 1}, i));
  const StoreReport report = store.report();
  EXPECT_EQ(sink.spilled, 0u);
  EXPECT_GT(report.loosenings, 0u);
  EXPECT_LT(report.threshold, 160);
  EXPECT_EQ(report.lost_segments, 0u);
}

}  // namespace
}  // namespace refrain::similarity
