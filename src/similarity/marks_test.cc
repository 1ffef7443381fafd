#include "similarity/marks.h"

#include <gtest/gtest.h>

#include <random>

namespace refrain::similarity {
namespace {

class Collect final : public SegmentConsumer {
 public:
  explicit Collect(ContextTable* contexts) : contexts_(contexts) {}
  void segment(const SegmentView& s) override {
    names.push_back(contexts_->name(s.context) + " " + std::to_string(s.start_ns) + "+" +
                    std::to_string(static_cast<int64_t>(s.length_ns())) + " " +
                    std::to_string(s.event_count()));
    calls += s.event_count();
    structures.push_back(s.structure);
    EXPECT_GE(s.start_ns, end_ns);
    end_ns = s.start_ns + static_cast<int64_t>(s.length_ns());
  }
  std::vector<std::string> names;
  std::vector<uint64_t> structures;
  uint64_t calls = 0;
  int64_t end_ns = 0;

 private:
  ContextTable* contexts_;
};
using Names = std::vector<std::string>;

struct Fixture {
  ContextTable contexts;
  Collect collect{&contexts};
  MarkSegmenter marks{&collect, &contexts, 0, 8};
};

TEST(MarkSegmenter, RegionsNestAndSegmentsDoNotOverlap) {
  Fixture f;
  f.marks.call(9, 1, 2);
  for (int64_t t = 10; t < 30; t += 10) {
    f.marks.region_begin(1, "step", t);
    f.marks.call(1, t + 1, t + 2);
    f.marks.region_begin(2, "exchange", t + 3);
    f.marks.call(2, t + 3, t + 4);
    f.marks.region_end(2, t + 5);
    f.marks.call(3, t + 6, t + 7);
    f.marks.region_end(1, t + 8);
  }
  f.marks.call(9, 31, 32);
  f.marks.finish(40);
  EXPECT_EQ(f.collect.names,
            (Names{"main_0 0+10 1", "step 10+3 1", "exchange 13+2 1", "step_2 15+3 1",
                   "step 20+3 1", "exchange 23+2 1", "step_2 25+3 1", "main_1 28+12 1"}));
  EXPECT_EQ(f.collect.structures[1], f.collect.structures[4]);
  EXPECT_EQ(f.marks.counts().segments, 8u);
  EXPECT_TRUE(describe(f.marks.counts()).empty());
}

TEST(MarkSegmenter, InstancesEndWhenTheNextOneBegins) {
  Fixture f;
  f.marks.region_begin(1, "solve", 0);
  for (int64_t t = 10; t < 30; t += 10) {
    f.marks.instance(1, "timestep", t);
    f.marks.call(5, t + 1, t + 2);
  }
  f.marks.region_end(1, 30);
  f.marks.instance(7, "last", 31);
  f.marks.call(5, 32, 33);
  f.marks.finish(40);
  EXPECT_EQ(f.collect.names, (Names{"timestep 10+10 1", "timestep 20+10 1", "last 31+9 1"}));
  EXPECT_TRUE(describe(f.marks.counts()).empty());
}

TEST(MarkSegmenter, MistakesAreCountedAndNoCallIsLost) {
  Fixture f;
  f.marks.region_end(4, 1);  // never begun
  f.marks.region_begin(1, "a", 2);
  f.marks.call(1, 3, 4);
  f.marks.region_begin(2, "b", 5);
  f.marks.call(2, 6, 7);
  f.marks.region_end(1, 8);  // crosses b
  f.marks.call(3, 9, 10);
  f.marks.region_end(2, 11);  // its end was that of a
  f.marks.region_begin(3, "c", 12);
  f.marks.call(4, 13, 14);
  f.marks.finish(20);
  EXPECT_EQ(f.collect.names, (Names{"a 2+3 1", "b 5+3 1", "main_1 8+4 1", "c 12+8 1"}));
  EXPECT_EQ(f.marks.counts().ends_without_begin, 2u);
  EXPECT_EQ(f.marks.counts().crossed, 1u);
  EXPECT_EQ(f.marks.counts().left_open, 1u);
  EXPECT_EQ(describe(f.marks.counts()),
            (Names{"2 ends of regions without a begin were ignored",
                   "1 regions were ended by the end of a region around them",
                   "1 regions were still open at the end of the run and end there"}));
}

TEST(MarkSegmenter, LongSegmentsAreDivided) {
  Fixture f;
  for (int64_t t = 0; t < 20; ++t) f.marks.call(1, 10 * t, 10 * t + 5);
  f.marks.finish(200);
  EXPECT_EQ(f.collect.names, (Names{"main_0 0+80 8", "main_0 80+80 8", "main_0 160+40 4"}));
  EXPECT_EQ(f.marks.counts().divided, 2u);
}

TEST(MarkSegmenter, TooManyLevelsAreOneSegment) {
  Fixture f;
  for (uint64_t i = 0; i < 100; ++i) {
    f.marks.region_begin(i, std::string("r").append(std::to_string(i)), 1);
    if (i % 25 == 0) f.marks.call(1, 2, 3);
  }
  for (uint64_t i = 100; i-- > 0;) f.marks.region_end(i, 4);
  f.marks.call(1, 5, 6);
  f.marks.finish(7);
  EXPECT_EQ(f.marks.counts().too_deep, 36u);
  EXPECT_EQ(f.marks.counts().ends_without_begin, 0u);
  EXPECT_EQ(f.marks.counts().left_open, 0u);
  EXPECT_EQ(f.collect.calls, 5u);
}

// Whatever a program does: every call is in one segment, segments follow each other, and what was
// begun is what was ended.
TEST(MarkSegmenter, AnyMarksKeepEveryCall) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 200; ++round) {
    Fixture f;
    int64_t now = 0;
    uint64_t calls = 0;
    uint64_t begins = 0;
    uint64_t ends = 0;
    for (int i = 0; i < 300; ++i) {
      now += 5;
      const uint64_t key = random() % 4;
      switch (random() % 5) {
        case 0: f.marks.region_begin(key, std::to_string(key), now), ++begins; break;
        case 1: f.marks.region_end(key, now), ++ends; break;
        case 2: f.marks.instance(key, "instance", now); break;
        default: f.marks.call(random() % 3, now + 1, now + 2), ++calls;
      }
    }
    f.marks.finish(now + 5);
    EXPECT_EQ(f.collect.calls, calls);
    const MarkCounts& c = f.marks.counts();
    EXPECT_EQ(begins, ends - c.ends_without_begin + c.crossed + c.left_open);
    EXPECT_EQ(c.segments, f.collect.names.size());
  }
}

TEST(ContextTable, BeyondItsLimitEverythingIsTheRoot) {
  ContextTable contexts("solver");
  for (uint64_t i = 0; i < ContextTable::kMaxOwners + 10; ++i) contexts.loop(i, 0);
  EXPECT_TRUE(contexts.full());
  EXPECT_EQ(contexts.loop(1u << 30, 0), ContextTable::kRoot);
  EXPECT_EQ(contexts.name(contexts.part(ContextTable::kRoot, ContextTable::kNone)), "solver_0");
}

}  // namespace
}  // namespace refrain::similarity
