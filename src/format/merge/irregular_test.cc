// Programs in which every call is a new one: what that takes a signature, and that the quick ways
// through it say the same as the plain ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <random>

#include "format/content.h"
#include "format/decode/decode.h"
#include "format/encode/encode.h"
#include "format/merge/merge.h"
#include "format/merge/order.h"
#include "format/merge/splitter.h"
#include "format/signatures/arrays.h"
#include "format/signatures/walk.h"
#include "format/testing/counted_heap.h"
#include "format/testing/synthetic.h"

namespace refrain::format {
namespace {

using testing::Sig;
using testing::SyntheticRank;

// Sends of lengths and tags that jump about; `own`: other ones on each rank.
RankRecord new_calls(uint64_t rank, uint64_t ranks, uint64_t calls, bool own) {
  SyntheticRank r(rank, ranks);
  std::mt19937_64 random(own ? rank + 1 : 1);
  const uint32_t type = r.datatype("MPI_BYTE", 1);
  for (uint64_t i = 0; i < calls; ++i)
    r.call(Sig(7, r.site(9))
               .buffer(BufferClass::kHeap, 1, 0)
               .integer(static_cast<int64_t>(random() % 300'000))
               .object(type)
               .constant("MPI_PROC_NULL")
               .integer(static_cast<int64_t>(i))
               .object(r.world()));
  RankRecord record = r.finish();
  for (DurationStats& d : record.durations) {  // of one call, as the recorder has them
    d = DurationStats();
    d.count = 1;
    d.min_ns = d.max_ns = 500 + random() % 1000;
    d.sum_ns = static_cast<double>(d.min_ns) + 0.25;
    d.histogram.add(static_cast<size_t>(63 - __builtin_clzll(d.min_ns)), 1);
  }
  return record;
}

// How many more each signature takes: `what` of 2n calls against that of n.
struct Cost {
  double allocations = 0, bytes = 0;
};
template <class Prepare, class What>
Cost cost_of_each(Prepare prepare, What what) {
  constexpr uint64_t kCalls = 16384;
  Heap of[2];
  for (uint64_t i = 0; i < 2; ++i) {
    auto given = prepare((i + 1) * kCalls);
    const Heap before = heap;
    heap.most = heap.now;
    {
      auto made = what(std::move(given));
      EXPECT_TRUE(made.ok());
    }
    of[i] = {heap.calls - before.calls, 0, heap.most - before.now};
  }
  return {static_cast<double>(of[1].calls - of[0].calls) / kCalls,
          static_cast<double>(of[1].most - of[0].most) / kCalls};
}

TEST(Irregular, ASignatureOfOneRankTakesNoAllocationAndFewBytes) {
  const auto record = [](uint64_t calls) { return new_calls(0, 1, calls, false); };
  const Cost leaves = cost_of_each(record, [](RankRecord r) { return leaf(std::move(r), 1); });
  // Pieces of lists, each for thousands; durations come in pieces as well.
  EXPECT_LT(leaves.allocations, 0.1);
  EXPECT_LT(leaves.bytes, 60);
  const Cost finishes =
      cost_of_each([&](uint64_t calls) { return leaf(record(calls), 1); },
                   [](base::Result<PartialTrace> p) { return finish(std::move(*p)); });
  EXPECT_LT(finishes.allocations, 0.125);
  EXPECT_LT(finishes.bytes, 120);
  const Cost encodes =
      cost_of_each([&](uint64_t calls) { return finish(std::move(*leaf(record(calls), 1))); },
                   [](base::Result<TraceData> t) { return encode(*t); });
  EXPECT_LT(encodes.bytes, 100);
}

TEST(Irregular, TwoTablesAreMergedInOnePassWithoutAllocations) {
  using Two = std::pair<PartialTrace, PartialTrace>;
  const Cost merges = cost_of_each(
      [](uint64_t calls) {
        return Two(*leaf(new_calls(0, 2, calls, false), 2),
                   *leaf(new_calls(1, 2, calls, false), 2));
      },
      [](Two p) { return merge(std::move(p.first), std::move(p.second)); });
  EXPECT_LT(merges.allocations, 0.1);
  EXPECT_LT(merges.bytes, 60);
  const Cost parses = cost_of_each(
      [](uint64_t calls) { return serialise(*leaf(new_calls(0, 2, calls, false), 2)); },
      [](const std::string& bytes) { return parse(bytes); });
  EXPECT_LT(parses.allocations, 0.1);
  EXPECT_LT(parses.bytes, 70);
}

// Messages of long tables are the tables themselves: of one rank, of ranks that did the same, and
// of ranks that did not; with numbers that are not small.
TEST(Irregular, MessagesAreWhatWasSentAndDamagedOnesAreTotal) {
  constexpr uint64_t kCalls = 700;
  const auto record = [](uint64_t rank, uint64_t differs_from) {
    SyntheticRank r(rank, 4);
    for (uint64_t i = 0; i < kCalls; ++i) {
      const int64_t own = i >= differs_from ? static_cast<int64_t>(rank) * 7 : 0;
      r.call(Sig(i % 100 < 50 ? 7 : 8, r.site(9))
                 .integer(static_cast<int64_t>(i * i) << (i % 64 == 5 ? 40 : 0))
                 .integer(static_cast<int64_t>(i) + own)
                 .object(r.world()));
    }
    return r.finish();
  };
  std::mt19937_64 random(9);
  for (const uint64_t differs_from : {kCalls, uint64_t{300}, uint64_t{0}}) {
    const auto part = [&](uint64_t rank) { return *leaf(record(rank, differs_from), 4); };
    const auto sent = [](PartialTrace p) {
      const std::string bytes = serialise(p);
      auto back = parse(bytes);
      EXPECT_TRUE(back.ok());
      EXPECT_EQ(serialise(*back), bytes);
      return std::move(*back);
    };
    PartialTrace plain = *merge(*merge(part(0), part(1)), *merge(part(2), part(3)));
    PartialTrace over_wire =
        *merge(*merge(part(0), sent(part(1))), sent(*merge(part(2), sent(part(3)))));
    const std::string good = serialise(sent(*merge(part(0), part(1))));
    EXPECT_EQ(serialise(plain), serialise(over_wire));
    const std::string right = serialise(*merge_bytes(part(2), serialise(part(3))));
    EXPECT_EQ(serialise(*merge_bytes(*merge_bytes(part(0), serialise(part(1))), right)),
              serialise(plain));
    const auto trace = finish(std::move(over_wire));
    ASSERT_TRUE(trace.ok());
    EXPECT_TRUE(check_content(*trace, 1).empty());
    EXPECT_EQ(trace->groups.size(), 1u);
    const auto damaged = [&](std::string bytes, int flips) {
      for (; flips > 0; --flips)
        bytes[random() % bytes.size()] ^= static_cast<char>(1 << random() % 8);
      return bytes;
    };
    for (int i = 0; i < 300; ++i) {
      auto at_once = merge_bytes(part(i % 2 == 0 ? 0 : 1), damaged(right, 1 + i % 3));
      if (at_once.ok()) (void)finish(std::move(*at_once)).ok();
      auto p = parse(damaged(good, 1 + i % 3));
      if (!p.ok() || p->world_size != 4) continue;
      auto both = merge(std::move(*p), part(3));
      if (both.ok()) (void)finish(std::move(*both)).ok();
    }
  }
}

// All that the rank that writes the trace has of a signature at once, messages from others
// included.
double bytes_of_the_root_of_four(bool are_unlike) {
  constexpr uint64_t kRanks = 4;
  const auto peak = [are_unlike](uint64_t calls) {
    const int64_t before = heap.now;
    const auto of = [&](uint64_t rank) {
      return leaf(new_calls(rank, kRanks, calls, are_unlike), kRanks);
    };
    std::vector<std::string> messages;
    messages.push_back(serialise(*of(0)));
    messages.push_back(serialise(*of(1)));
    messages.push_back(serialise(*merge(*of(2), *of(3))));
    heap.most = heap.now;
    auto own = parse(std::exchange(messages[0], {}));
    for (const size_t i : {1, 2}) {
      const std::string message = std::exchange(messages[i], {});
      own = merge_bytes(std::move(*own), message);
    }
    auto trace = finish(std::move(*own));
    EXPECT_TRUE(trace.ok() && encode(*trace).ok());
    return heap.most - before;
  };
  constexpr uint64_t kCalls = 16384;
  return static_cast<double>(-peak(kCalls) + peak(2 * kCalls)) / kCalls;
}

TEST(Irregular, TheRootOfFourRanksTakesFewBytes) {
  EXPECT_LT(bytes_of_the_root_of_four(false), 180);
  // One number of each signature is another one on each rank: it has those of four.
  EXPECT_LT(bytes_of_the_root_of_four(true), 370);
}

// Loops are not looked for where samples of a long column have none, and found where they have.
TEST(Irregular, ALongColumnIsAListWhereItIsRegular) {
  const auto bytes_of = [](auto value) {
    SyntheticRank r(0, 1);
    for (int64_t i = 0; i < 20'000; ++i) r.call(Sig(7, r.site(9)).integer(value(i)));
    RankRecord record = r.finish();
    record.durations.assign(record.signatures.size(), DurationStats());
    const auto trace = finish(std::move(*leaf(std::move(record), 1)));
    const auto file = encode(*trace);
    EXPECT_TRUE(file.ok());
    const auto back = decode(*file, "made");
    EXPECT_TRUE(back.ok());
    for (size_t i = 0; i < trace->signatures.size(); ++i)
      EXPECT_EQ(back->signatures.get(i).slots, trace->signatures.get(i).slots) << i;
    return file->size();
  };
  std::mt19937_64 random(5);
  const size_t irregular =
      bytes_of([&](int64_t i) { return i << 20 | static_cast<int64_t>(random() % 1'000'000); });
  const size_t regular = bytes_of([](int64_t i) { return 5 * i; });
  // Eight unlike numbers again and again, ever higher; and a column of which a part has no order.
  const size_t loop = bytes_of([](int64_t i) { return i / 8 * 1000 + i % 8 * (i % 8); });
  const size_t part = bytes_of([&](int64_t i) {
    return i < 10'000 ? i << 20 | static_cast<int64_t>(random() % 1'000'000) : 7 * i << 21;
  });
  EXPECT_LT(loop, regular + 100);
  EXPECT_LT(part, regular + (irregular - regular) * 7 / 10);
}

// A signature of random fields, requests of earlier ones among them.
std::string random_signature(std::mt19937_64& random, uint32_t terminal) {
  Sig sig(static_cast<uint32_t>(random() % 200), static_cast<uint32_t>(random() % 3));
  const auto number = [&] { return static_cast<int64_t>(random() >> random() % 64); };
  for (uint64_t n = random() % 6; n > 0; --n) {
    switch (random() % 8) {
      case 0: sig.integer(number()); break;
      case 1: sig.object(static_cast<uint32_t>(random() % 300)); break;
      case 2: terminal > 0 ? sig.request(random() % terminal) : sig.none(); break;
      case 3: sig.buffer(static_cast<BufferClass>(random() % 7), number(), number()); break;
      case 4: sig.text(std::string(random() % 5, 'x')); break;
      case 5: sig.int_runs({number(), number(), number()}); break;
      case 6: sig.ints({number(), number()}); break;
      default: sig.status(number(), number()); break;
    }
  }
  return sig.bytes();
}

TEST(Irregular, PatternsSplitAsWalksDo) {
  std::mt19937_64 random(3);
  int at_once = 0;
  for (int round = 0; round < 300; ++round) {
    ShapeTable shapes;
    Splitter splitter(shapes);
    std::vector<std::string> all;
    for (uint32_t t = 0; t < 60; ++t) {
      // Often one like an earlier one, with bytes that differ, and now and then a broken one.
      std::string bytes = random_signature(random, t);
      if (!all.empty() && random() % 2 == 0) bytes = all[random() % all.size()];
      if (random() % 2 == 0 && !bytes.empty())
        bytes[random() % bytes.size()] = static_cast<char>(random());
      if (random() % 16 == 0) bytes.resize(random() % (bytes.size() + 1));
      all.push_back(bytes);
      const auto plain = split_signature(fold_arrays(bytes));
      NumberArray numbers;
      const auto definitions = static_cast<uint32_t>(1) << random() % 20;
      if (splitter.split_onto(bytes, 0, definitions, numbers)) {
        ASSERT_TRUE(plain);
        ASSERT_EQ(shapes[splitter.shape()], plain->shape);
        ASSERT_EQ(numbers.size(), plain->values.size());
        for (size_t i = 0; i < numbers.size(); ++i) ASSERT_EQ(numbers[i], plain->values[i]);
        ++at_once;
        for (const uint32_t k : shapes.structure(splitter.shape()).definition_slots)
          ASSERT_LT(numbers[k], definitions);
      }
      ASSERT_EQ(splitter.split(bytes), plain.has_value());
      if (!plain) continue;
      const auto info = inspect_shape(plain->shape);
      ASSERT_TRUE(info);
      const ShapeStructure& structure = shapes.structure(splitter.shape());
      ASSERT_EQ(shapes[splitter.shape()], plain->shape);
      ASSERT_EQ(splitter.values(), plain->values);
      ASSERT_TRUE(structure.is_good);
      ASSERT_EQ(structure.call_id, info->call_id);
      ASSERT_EQ(structure.slots, info->slots);
      ASSERT_EQ(structure.object_slots, info->object_slots);
      ASSERT_TRUE(std::ranges::equal(shapes.requests(splitter.shape()), info->requests));
    }
  }
  EXPECT_GT(at_once, 100);
}

// All of them elsewhere, or some from one end to the other.
void change(std::vector<uint32_t>& order, bool all, std::mt19937_64& random) {
  if (all) return std::shuffle(order.begin(), order.end(), random);
  const auto some = [&] { return static_cast<std::ptrdiff_t>(random() % 6); };
  const std::ptrdiff_t before = some(), behind = some();
  if (random() % 2 == 0)
    std::rotate(order.begin() + some(), order.begin() + 6 + before, order.end() - behind);
  else
    std::rotate(order.begin() + some(), order.end() - 6 - before, order.end() - behind);
}

TEST(Irregular, AnOrderTakesStatisticsAlong) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 60; ++round) {
    TraceData trace;
    base::ByteWriter shape;
    shape.put_varint(7);
    std::vector<uint32_t> order(40 + random() % 200);
    std::iota(order.begin(), order.end(), 0u);
    for (const uint32_t i : order) {
      trace.signatures.push_back({std::string(shape.view()), {}});
      trace.durations.emplace_back().count = i;
      trace.gaps.emplace_back().count = 1000 + i;
    }
    trace.groups.emplace_back().signatures = order;
    change(order, round % 3 == 0, random);
    apply_order(trace, order);
    for (uint32_t i = 0; i < order.size(); ++i) {
      ASSERT_EQ(trace.durations[i].count, order[i]);
      ASSERT_EQ(trace.gaps[i].count, 1000 + order[i]);
      ASSERT_EQ(trace.groups[0].signatures[order[i]], i);
    }
  }
}

TEST(Irregular, ATableOfSignaturesIsAListOfThem) {
  std::mt19937_64 random(4);
  const auto expr = [&] {
    const auto n = [&] { return static_cast<int64_t>(random() >> random() % 64); };
    switch (random() % 7) {
      case 0: return RankExpr{RankExpr::Kind::kAffine, random() % 2 == 0 ? 1 : n(), n()};
      case 1: return RankExpr{RankExpr::Kind::kMod, n()};
      case 2: return RankExpr{RankExpr::Kind::kCart, n(), n(), n()};
      case 3: return RankExpr{RankExpr::Kind::kTable, n()};
      case 4: return RankExpr{RankExpr::Kind::kDigit, n(), n(), n(), n()};
      default: return RankExpr{RankExpr::Kind::kConst, n()};
    }
  };
  for (int round = 0; round < 50; ++round) {
    std::vector<StoredSignature> list;
    SignatureTable table;
    for (int i = 0; i < 300; ++i) {
      StoredSignature s;
      base::ByteWriter shape;
      shape.put_varint(random() % 5);
      for (uint64_t k = random() % 4; k > 0; --k) s.slots.push_back(expr());
      shape.put_u8(static_cast<uint8_t>(FieldTag::kInt));
      s.shape = shape.take();
      if (list.empty() || random() % 4 != 0) {
        list.push_back(s);
        table.push_back(s);
      } else {
        const size_t at = random() % list.size();
        list[at] = s;
        table.set(at, s);
      }
    }
    ASSERT_EQ(table.size(), list.size());
    std::vector<uint32_t> order(list.size());
    for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    change(order, round % 2 == 0, random);
    table.permute(order);
    const SignatureTable copy = table;
    table.clear();
    for (size_t i = 0; i < order.size(); ++i) {
      ASSERT_EQ(copy.get(i).shape, list[order[i]].shape);
      ASSERT_EQ(copy.get(i).slots, list[order[i]].slots);
    }
  }
}

}  // namespace
}  // namespace refrain::format
