#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "format/testing/patterns.h"

namespace refrain::format::testing {

PartialTrace merge_tree(uint64_t first, uint64_t count, uint64_t world_size,
                        const std::function<RankRecord(uint64_t)>& rank, MergeCost* cost) {
  if (count == 1) {
    auto one = leaf(rank(first), world_size);
    EXPECT_TRUE(one.ok()) << one.error().to_string();
    return one.ok() ? std::move(*one) : PartialTrace{};
  }
  uint64_t half = 1;
  while (2 * half < count) half *= 2;
  PartialTrace low = merge_tree(first, half, world_size, rank, cost);
  PartialTrace high = merge_tree(first + half, count - half, world_size, rank, cost);
  const auto begin = std::chrono::steady_clock::now();
  const std::string message = serialise(high);
  auto received = parse(message);
  EXPECT_TRUE(received.ok());
  if (!received.ok()) return {};
  auto both = merge(std::move(low), std::move(*received));
  EXPECT_TRUE(both.ok());
  if (!both.ok()) return {};
  if (cost != nullptr) {
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    cost->seconds += taken.count();
    if (first == 0) cost->root_seconds += taken.count();
    std::vector<TotalCodes> totals;
    totals.swap(both->totals);
    cost->live_bytes = std::max(cost->live_bytes, static_cast<uint64_t>(serialise(*both).size()));
    totals.swap(both->totals);
    cost->message_bytes = std::max(cost->message_bytes, static_cast<uint64_t>(message.size()));
    ++cost->merges;
  }
  return std::move(*both);
}

}  // namespace refrain::format::testing
