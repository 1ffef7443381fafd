// Tags: two ends of a message find the same one, and messages that are under way differ.
#include "events/by_rank/skeleton.h"

#include <gtest/gtest.h>

#include <set>

namespace refrain::events {
namespace {

TEST(Tags, TellMessagesOfAPairApart) {
  Tags sender;
  std::set<uint32_t> seen;
  for (CommKey comm = 0; comm < 3; ++comm)
    for (int64_t tag = -1; tag < 3; ++tag)
      for (uint64_t number = 0; number < Tags::kAtATime; ++number)
        EXPECT_TRUE(seen.insert(sender.of(comm, tag, number)).second);
  EXPECT_EQ(sender.of(1, 2, 5), sender.of(1, 2, 5));
  EXPECT_EQ(sender.of(1, 2, Tags::kAtATime), sender.of(1, 2, 0));
  EXPECT_EQ(seen.count(sender.of_collective(0, 0)), 0u);
  EXPECT_LT(*seen.rbegin(), 1u << 31);
}

}  // namespace
}  // namespace refrain::events
