// MessageEnds and Tags outside of memory, against what a table of all channels does.
#include "events/by_rank/message_ends.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <tuple>

#include "events/by_rank/tags.h"

namespace refrain::events {
namespace {

struct Less {
  bool operator()(const ChannelKey& a, const ChannelKey& b) const {
    return std::tie(a.comm, a.source, a.dest, a.tag) < std::tie(b.comm, b.source, b.dest, b.tag);
  }
};

// What happens on the channels, at random: ranks one after another, as a conversion walks them.
struct What {
  enum Kind : uint8_t { kSend, kReceive, kUse } kind = kSend;
  ChannelKey channel;
  bool in_window = false;
  std::optional<uint64_t> bytes;
  size_t of = 0;  // use: which one of all
};

std::vector<What> at_random(std::mt19937_64& random, Rank ranks, size_t calls) {
  std::vector<What> out;
  for (Rank me = 0; me < ranks; ++me) {
    std::vector<size_t> open;  // receives of this rank
    for (size_t i = 0; i < calls; ++i) {
      What one;
      one.kind = static_cast<What::Kind>(random() % 10 < 8 ? random() % 2 : 2);
      const auto other = static_cast<Rank>(random() % static_cast<uint64_t>(ranks));
      const bool sends = one.kind == What::kSend;
      one.channel = {static_cast<uint32_t>(random() % 2), sends ? me : other, sends ? other : me,
                     static_cast<int64_t>(random() % 3) - 1};
      one.in_window = random() % 4 > 0;
      if (sends && random() % 4 > 0) one.bytes = random() % 3;
      if (one.kind == What::kReceive) open.push_back(out.size());
      if (one.kind >= What::kUse) {
        if (open.empty()) continue;
        const size_t which = random() % open.size();
        one.of = open[which];
        one.channel = out[one.of].channel;
      }
      out.push_back(one);
    }
  }
  return out;
}

struct Range {
  uint64_t first = UINT64_MAX, end = 0;
  void add(uint64_t n) { first = std::min(first, n), end = std::max(end, n + 1); }
  bool has(uint64_t n) const { return n >= first && n < end; }
};
struct Table {
  uint64_t sends = 0, receives = 0;
  Range sent, received;
  std::map<uint64_t, uint64_t> sizes;  // by the first message that has it
};

// The slow way: everything in memory. By position in `all`; nothing for what is no end.
std::map<size_t, EndAnswer> reference(const std::vector<What>& all) {
  std::map<ChannelKey, Table, Less> tables;
  std::map<size_t, uint64_t> numbers;
  for (size_t i = 0; i < all.size(); ++i) {
    Table& t = tables[all[i].channel];
    switch (all[i].kind) {
      case What::kSend:
        numbers[i] = t.sends++;
        if (all[i].in_window) t.sent.add(numbers[i]);
        if (all[i].bytes) t.sizes[numbers[i]] = *all[i].bytes;
        break;
      case What::kReceive:
        numbers[i] = t.receives++;
        if (all[i].in_window) t.received.add(numbers[i]);
        break;
      case What::kUse: t.received.add(numbers[all[i].of]); break;
    }
  }
  std::map<size_t, EndAnswer> out;
  for (const auto& [i, number] : numbers) {
    const Table& t = tables[all[i].channel];
    EndAnswer& answer = out[i];
    answer.number = number;
    answer.is_whole = t.sent.has(number) && t.received.has(number);
    auto size = t.sizes.upper_bound(number);
    if (size != t.sizes.begin()) answer.sent_bytes = (--size)->second;
  }
  return out;
}

void walk(const std::vector<What>& all, MessageEnds& ends) {
  std::map<size_t, uint64_t> ids;
  for (size_t i = 0; i < all.size(); ++i) {
    const What& one = all[i];
    switch (one.kind) {
      case What::kSend: ends.send(one.channel, one.in_window, one.bytes); break;
      case What::kReceive: ids[i] = ends.receive(one.channel, one.in_window); break;
      case What::kUse: ends.use(one.channel, ids[one.of]); break;
    }
  }
}

TEST(MessageEnds, KnowWhatATableDoes) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 60; ++round) {
    const std::vector<What> all =
        at_random(random, 1 + static_cast<Rank>(random() % 4), random() % 150);
    const std::map<size_t, EndAnswer> want = reference(all);
    for (const size_t bytes : {size_t{0}, size_t{1} << 20}) {
      MessageEnds ends(::testing::TempDir(), bytes, MessageEnds::Wanted::kAll);
      MessageEnds numbers(::testing::TempDir(), bytes, MessageEnds::Wanted::kNumbers);
      walk(all, ends);
      walk(all, numbers);
      ASSERT_TRUE(ends.join().ok() && numbers.join().ok());
      for (int again = 0; again < 2; ++again) {
        for (const auto& [i, answer] : want) {
          const EndAnswer got = ends.next();
          ASSERT_EQ(got.number, answer.number) << "round " << round << ", " << i;
          ASSERT_EQ(got.is_whole, answer.is_whole) << "round " << round << ", " << i;
          ASSERT_EQ(got.sent_bytes, answer.sent_bytes) << "round " << round << ", " << i;
          ASSERT_EQ(numbers.next().number, answer.number) << "round " << round << ", " << i;
        }
        ASSERT_TRUE(ends.status().ok());
        ASSERT_TRUE(ends.rewind().ok() && numbers.rewind().ok());
      }
    }
  }
}

TEST(MessageEnds, SayThatTheSecondWalkIsAnotherOne) {
  MessageEnds ends(::testing::TempDir(), 0, MessageEnds::Wanted::kAll);
  ends.send({0, 0, 1, 2}, true, 8);
  ASSERT_TRUE(ends.join().ok());
  ends.next();
  EXPECT_TRUE(ends.status().ok());
  ends.next();
  EXPECT_FALSE(ends.status().ok());
}

TEST(MessageEnds, SayThatTheDiskIsNotThere) {
  MessageEnds ends("/no/such/folder", 0, MessageEnds::Wanted::kAll);
  for (uint64_t i = 0; i < 100; ++i) ends.send({0, 0, 1, 2}, true, i);
  ASSERT_FALSE(ends.status().ok());
  EXPECT_FALSE(ends.join().ok());
  EXPECT_NE(ends.status().error().to_string().find("/no/such/folder"), std::string::npos);
}

// Tables that hold all pairs, some, or none.
TEST(Tags, AreTheSameOutsideOfMemory) {
  std::mt19937_64 random(5);
  std::vector<std::tuple<CommKey, int64_t, uint64_t>> uses;
  for (int i = 0; i < 5000; ++i)
    uses.emplace_back(static_cast<uint32_t>(random() % 3), static_cast<int64_t>(random() % 400) - 7,
                      random() % 3000);
  Tags plain;
  std::vector<uint32_t> want;
  for (const auto& [comm, tag, number] : uses) want.push_back(plain.of(comm, tag, number));
  for (const size_t bytes : {size_t{0}, size_t{10000}, size_t{1} << 30}) {
    Tags tags(::testing::TempDir(), bytes, 0);
    EXPECT_EQ(tags.have_room(1000), bytes > 100000);
    tags.begin_notes();
    for (const auto& [comm, tag, number] : uses) tags.of(comm, tag, number);
    ASSERT_TRUE(tags.end_notes().ok());
    for (size_t i = 0; i < uses.size(); ++i) {
      const auto& [comm, tag, number] = uses[i];
      ASSERT_EQ(tags.of(comm, tag, number), want[i]) << i << " of a table of " << bytes;
    }
    EXPECT_TRUE(tags.status().ok());
    tags.of(7, 7, 7);  // one more than was noted
    EXPECT_EQ(tags.status().ok(), bytes > 100000);
  }
}

}  // namespace
}  // namespace refrain::events
