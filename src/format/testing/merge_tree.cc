#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>

#include "format/testing/patterns.h"

namespace refrain::format::testing {

double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

PartialTrace merge_tree(uint64_t first, uint64_t count, uint64_t world_size,
                        const std::function<RankRecord(uint64_t)>& rank, MergeCost* cost) {
  const bool counts_heap = cost != nullptr && cost->heap_now != nullptr;
  const uint64_t held = counts_heap ? cost->heap_now() : 0;  // by ranks that have nothing to do
  if (count == 1) {
    auto one = leaf(rank(first), world_size);
    EXPECT_TRUE(one.ok()) << one.error().to_string();
    return one.ok() ? std::move(*one) : PartialTrace{};
  }
  uint64_t half = 1;
  while (2 * half < count) half *= 2;
  PartialTrace low = merge_tree(first, half, world_size, rank, cost);
  PartialTrace high = merge_tree(first + half, count - half, world_size, rank, cost);
  const double begin = cpu_seconds();
  std::vector<TotalCodes> apart;
  apart.swap(high.totals);
  const uint64_t without_totals = counts_heap ? serialise(high).size() : 0;
  apart.swap(high.totals);
  std::string message = serialise(high);
  message.shrink_to_fit();  // as it travels
  auto received = parse(message);
  EXPECT_TRUE(received.ok());
  if (!received.ok()) return {};
  // Totals stay out of what is counted: they are appended, and their size is known.
  std::vector<TotalCodes> totals, of_high;
  totals.swap(low.totals);
  of_high.swap(received->totals);
  if (counts_heap) {
    high = {};  // the other rank's
    cost->heap_peak();
  }
  auto both = merge(std::move(low), std::move(*received));
  EXPECT_TRUE(both.ok());
  if (!both.ok()) return {};
  if (counts_heap) {
    const uint64_t aside = sizeof(TotalCodes) * (totals.capacity() + of_high.capacity()) +
                           message.size() - without_totals;
    cost->node_bytes = std::max(cost->node_bytes, cost->heap_peak() - held - aside);
  }
  totals.insert(totals.end(), of_high.begin(), of_high.end());
  if (cost != nullptr) {
    const double taken = cpu_seconds() - begin;
    cost->seconds += taken;
    if (first == 0) cost->root_seconds += taken;
    cost->live_bytes = std::max(cost->live_bytes, static_cast<uint64_t>(serialise(*both).size()));
    cost->message_bytes = std::max(cost->message_bytes, static_cast<uint64_t>(message.size()));
    ++cost->merges;
  }
  both->totals = std::move(totals);
  return std::move(*both);
}

}  // namespace refrain::format::testing
