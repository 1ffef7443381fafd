// Statistics as bytes: the quick ways through them say what DurationStats say.
#include "format/merge/duration_list.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace refrain::format {
namespace {

DurationStats random_stats(std::mt19937_64& random) {
  DurationStats d;
  const auto number = [&] { return random() >> random() % 64; };
  if (random() % 8 == 0) return d;
  if (random() % 2 == 0) {  // equally long calls
    d.count = random() % 2 == 0 ? 1 : 1 + number() / 2;
    d.min_ns = d.max_ns = number();
    d.histogram.add(random() % 8 == 0 ? random() % 64 : Histogram::bucket_of(d.min_ns), d.count);
  } else {
    d.count = 1 + number() / 2;
    d.min_ns = number(), d.max_ns = number();
    for (uint64_t n = random() % 6; n > 0; --n) d.histogram.add(random() % 64, number());
  }
  d.sum_ns = static_cast<double>(number()) / 3;
  return d;
}

void expect_equal(const DurationStats& a, const DurationStats& b) {
  ASSERT_EQ(a.count, b.count);
  if (a.count == 0) return;
  ASSERT_EQ(a.min_ns, b.min_ns);
  ASSERT_EQ(a.max_ns, b.max_ns);
  ASSERT_EQ(a.sum_ns, b.sum_ns);
  for (size_t i = 0; i < Histogram::kBuckets; ++i) ASSERT_EQ(a.histogram[i], b.histogram[i]) << i;
}

std::string bytes_of(const DurationList& list) {
  base::ByteWriter out;
  list.write(out);
  return out.take();
}

TEST(DurationList, GivesBackWhatItTookAndAddsAsStatisticsDo) {
  std::mt19937_64 random(1);
  // Some pages of them.
  constexpr size_t kMany = 20'000;
  std::deque<DurationStats> a(kMany), b(kMany);
  DurationList first, second;
  for (size_t i = 0; i < kMany; ++i) {
    first.push_back(a[i] = random_stats(random));
    second.push_back(b[i] = random_stats(random));
  }
  const std::string bytes = bytes_of(first) + "rest";
  base::ByteReader in(bytes);
  DurationList taken;
  taken.take(in, kMany);
  ASSERT_TRUE(in.ok());
  ASSERT_EQ(in.rest(), "rest");
  ASSERT_EQ(bytes_of(taken) + "rest", bytes);
  // What is taken behind others comes behind them.
  DurationList behind;
  behind.push_back(b[0]);
  base::ByteReader again(bytes);
  behind.take(again, kMany);
  DurationList::Reader one(std::move(taken)), other(std::move(second)), both(std::move(behind));
  ASSERT_NO_FATAL_FAILURE(expect_equal(both.next(), b[0]));
  for (size_t i = 0; i < kMany; ++i) {
    ASSERT_NO_FATAL_FAILURE(expect_equal(both.next(), a[i])) << i;
    FlatDuration sum, more;
    one.next(sum);
    other.next(more);
    add_flat(sum, more);
    add_durations(a[i], b[i]);
    ASSERT_NO_FATAL_FAILURE(expect_equal(stats_of(sum), a[i])) << i;
  }
  ASSERT_EQ(both.next().count, 0u);
  ASSERT_EQ(both.next().count, 0u);
}

// Of one call or a few, in one bucket or some, at limits and beyond.
DurationStats few_calls(std::mt19937_64& random) {
  DurationStats d;
  const uint64_t kinds[] = {1, 1, 2, 100, 254, 255, 300};
  const uint64_t calls = kinds[random() % 7];
  const uint64_t spread = random() % 12;
  const size_t lowest = random() % (random() % 4 == 0 ? 52 : 20);
  for (uint64_t i = 0; i < calls; ++i) {
    const uint64_t ns = uint64_t{1} << (lowest + random() % (spread + 1));
    d.min_ns = i == 0 ? ns : std::min(d.min_ns, ns);
    d.max_ns = std::max(d.max_ns, ns);
    d.histogram.add(Histogram::bucket_of(ns), 1);
    d.sum_ns += static_cast<double>(ns) + 0.25;
  }
  d.count = calls;
  return d;
}

TEST(DurationList, FewCallsAreAddedInPlaceAsStatisticsAre) {
  std::mt19937_64 random(3);
  // Short lists end where words would be loaded from behind them.
  for (const size_t n : {1, 2, 3, 20'000}) {
    for (int round = 0; round < (n < 10 ? 300 : 1); ++round) {
      std::deque<DurationStats> a(n), b(n);
      DurationList first, second, sums;
      for (size_t i = 0; i < n; ++i) {
        first.push_back(a[i] = few_calls(random));
        second.push_back(b[i] = few_calls(random));
      }
      size_t in_place = 0;
      DurationList::Reader x(std::move(first)), y(std::move(second));
      for (size_t i = 0; i < n; ++i) {
        if (sums.add_few(x, y)) {
          ++in_place;
        } else {
          FlatDuration sum, more;
          x.next(sum);
          y.next(more);
          add_flat(sum, more);
          sums.push_back(sum);
        }
        add_durations(a[i], b[i]);
      }
      DurationList::Reader all(std::move(sums));
      for (size_t i = 0; i < n; ++i)
        ASSERT_NO_FATAL_FAILURE(expect_equal(all.next(), a[i])) << n << ' ' << i;
      EXPECT_GE(in_place, n / 8);
    }
  }
}

TEST(DurationList, RefusesBytesThatAreNone) {
  std::mt19937_64 random(2);
  DurationList list;
  for (int i = 0; i < 40; ++i) list.push_back(random_stats(random));
  const std::string good = bytes_of(list);
  for (size_t n = 0; n < good.size(); ++n) {
    const std::string part = good.substr(0, n);
    base::ByteReader in(part);
    DurationList().take(in, 40);
    EXPECT_FALSE(in.ok()) << n;
  }
  size_t refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string bad = good;
    bad[random() % bad.size()] = static_cast<char>(random());
    base::ByteReader in(bad);
    DurationList taken;
    taken.take(in, 40);
    if (!in.ok()) ++refused;
    DurationList::Reader reader(std::move(taken));
    for (int i = 0; i < 41; ++i) (void)reader.next();
  }
  EXPECT_GT(refused, 1000u);
}

}  // namespace
}  // namespace refrain::format
