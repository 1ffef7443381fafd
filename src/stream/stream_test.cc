// Streams of a job in memory.
#include "stream/stream.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>
#include <set>

#include "refrain/coupling.h"
#include "stream/testing/world.h"

namespace refrain::stream {
namespace {

TEST(Stream, TakesBlocksUntilAllBuffersAreFull) {
  for (const int buffers : {1, 3, 7}) {
    Pair pair(buffers);
    int written = 0;
    while (write(pair.writer, block_of(0, written)) > 0) ++written;
    // Those of the reader, and those of the writer.
    EXPECT_EQ(written, 2 * buffers);
    for (int i = 0; i < written; ++i) {
      int from = -1;
      EXPECT_EQ(read(pair.reader, false, &from), block_of(0, i));
      EXPECT_EQ(from, 0);
    }
    EXPECT_EQ(read(pair.reader), "eagain");
    EXPECT_GT(write(pair.writer, "again"), 0);
    EXPECT_EQ(read(pair.reader), "again");
  }
}

TEST(Stream, EndsWhenTheWriterClosed) {
  Pair pair;
  EXPECT_GT(write(pair.writer, "last"), 0);
  EXPECT_EQ(pair.writer.close(Ending::kClosed), 0);
  EXPECT_EQ(read(pair.reader, true), "last");
  EXPECT_EQ(read(pair.reader, true), "end");
  EXPECT_EQ(read(pair.reader, true), "end");
  EXPECT_EQ(pair.reader.close(Ending::kClosed), 0);
  EXPECT_EQ(pair.world.open_receives(), 0u);
}

TEST(Stream, AReaderThatClosesTakesTheRest) {
  Pair pair;
  for (int i = 0; i < 6; ++i) EXPECT_GT(write(pair.writer, block_of(0, i)), 0);
  EXPECT_THROW(static_cast<void>(pair.reader.close(Ending::kClosed)), Waits);  // the writer goes on
  EXPECT_EQ(pair.writer.close(Ending::kClosed), 0);
}

TEST(Stream, TellsOnceOfAWriterThatDied) {
  Pair pair;
  EXPECT_GT(write(pair.writer, "before"), 0);
  pair.world.dead.insert(0);
  EXPECT_EQ(read(pair.reader, true), "before");
  EXPECT_EQ(read(pair.reader, true), "died");
  EXPECT_EQ(pair.reader.error(), "rank 0 died: its process is gone");
  EXPECT_EQ(pair.reader.dead(), std::vector<int>{0});
  EXPECT_EQ(read(pair.reader, true), "end");
  EXPECT_EQ(pair.reader.close(Ending::kClosed), 0);
}

TEST(Stream, TellsOfAWriterThatLeft) {
  Pair pair;
  EXPECT_EQ(pair.writer.close(Ending::kAbandoned), 0);
  EXPECT_EQ(read(pair.reader, true), "died");
  EXPECT_EQ(pair.reader.error(), "rank 0 died: it left MPI with the stream open");
  EXPECT_EQ(read(pair.reader), "end");
}

TEST(Stream, AWriterLearnsThatItsReaderDied) {
  Pair pair;
  while (write(pair.writer, "x") > 0) {
  }
  pair.world.dead.insert(1);
  EXPECT_EQ(write(pair.writer, "x", true), REFRAIN_EDIED);
  EXPECT_EQ(write(pair.writer, "x", true), REFRAIN_EDIED);
  EXPECT_EQ(pair.writer.error(), "no reader is left");
  EXPECT_EQ(pair.writer.dead(), std::vector<int>{1});
  EXPECT_EQ(pair.writer.close(Ending::kClosed), 0);
}

TEST(Stream, EndsThatDoNotFitSaySo) {
  World world;
  Rank zero(world, 0), one(world, 1);
  Stream small(zero, options(Balance::kNone, 32)), large(one, options(Balance::kNone, 64));
  EXPECT_EQ(small.open(1, kTag, true, false), 0);
  EXPECT_EQ(large.open(0, kTag, false, true), 0);
  EXPECT_EQ(write(large, "x", true), REFRAIN_EMISMATCH);
  EXPECT_EQ(large.error(), "the stream with rank 0: its blocks have 32 bytes, not 64");
  EXPECT_EQ(read(small, true), std::to_string(REFRAIN_EMISMATCH));
  Stream reader(zero, options(Balance::kNone)), other(one, options(Balance::kNone));
  EXPECT_EQ(reader.open(1, kTag + 2, true, false), 0);
  EXPECT_EQ(other.open(0, kTag + 2, true, false), 0);
  EXPECT_EQ(read(reader, true), std::to_string(REFRAIN_EMISMATCH));
  EXPECT_EQ(reader.error(), "the stream with rank 1: one end must read what the other one writes");
  EXPECT_EQ(write(reader, "x", true), REFRAIN_EINVALID);
  const std::string long_block(65, 'x');
  EXPECT_EQ(write(large, long_block), REFRAIN_EINVALID);
}

// Writers 0 .. 2, readers 3 .. 5, everybody with everybody.
struct Many {
  explicit Many(Balance balance) {
    for (int rank = 0; rank < 6; ++rank) {
      ranks.push_back(std::make_unique<Rank>(world, rank));
      streams.push_back(std::make_unique<Stream>(*ranks.back(), options(balance)));
    }
    for (int w = 0; w < 3; ++w)
      for (int r = 3; r < 6; ++r) {
        EXPECT_EQ(streams[static_cast<size_t>(w)]->open(r, kTag, false, true), 0);
        EXPECT_EQ(streams[static_cast<size_t>(r)]->open(w, kTag, true, false), 0);
      }
  }
  Stream& at(int rank) { return *streams[static_cast<size_t>(rank)]; }
  World world;
  std::vector<std::unique_ptr<Rank>> ranks;
  std::vector<std::unique_ptr<Stream>> streams;
};

TEST(Stream, BalanceChoosesTheReader) {
  const auto read_by = [](Balance balance) {
    Many many(balance);
    std::vector<int> counts(3);
    for (int i = 0; i < 300; ++i) {
      EXPECT_GT(write(many.at(0), block_of(0, i), true), 0);
      for (int r = 0; r < 3; ++r)
        while (read(many.at(3 + r)) != "eagain") ++counts[static_cast<size_t>(r)];
    }
    return counts;
  };
  EXPECT_EQ(read_by(Balance::kNone), (std::vector<int>{300, 0, 0}));
  EXPECT_EQ(read_by(Balance::kRoundRobin), (std::vector<int>{100, 100, 100}));
  for (const int count : read_by(Balance::kRandom)) EXPECT_GT(count, 60);
}

TEST(Stream, RoundRobinReadsFromAllWriters) {
  for (const auto& [balance, from] : {std::pair{Balance::kRoundRobin, std::set<int>{0, 1, 2}},
                                      std::pair{Balance::kNone, std::set<int>{0}}}) {
    Many many(balance);
    for (int w = 0; w < 3; ++w)
      for (int i = 0; i < 5; ++i) EXPECT_GT(write(many.at(w), block_of(w, i)), 0);
    std::set<int> seen;
    for (int i = 0; i < 3; ++i) {
      int rank = -1;
      read(many.at(3), false, &rank);
      seen.insert(rank);
    }
    EXPECT_EQ(seen, from);
  }
}

TEST(Stream, ANonblockingWriteGoesOnWithTheNextReader) {
  World world;
  Rank zero(world, 0), one(world, 1), two(world, 2);
  Stream writer(zero, options(Balance::kRoundRobin)), reader(two, options(Balance::kNone));
  EXPECT_EQ(writer.open(1, kTag, false, true), 0);  // never opens its end
  EXPECT_EQ(writer.open(2, kTag, false, true), 0);
  EXPECT_EQ(reader.open(0, kTag, true, false), 0);
  EXPECT_EQ(write(writer, "x"), REFRAIN_EAGAIN);
  EXPECT_GT(write(writer, "x"), 0);
  EXPECT_EQ(read(reader), "x");
}

// As write(), where the block is.
int64_t write_in_place(Stream& s, const std::string& text) {
  void* block = nullptr;
  if (s.acquire(&block, false) != 0) return REFRAIN_EAGAIN;
  std::memcpy(block, text.data(), text.size());
  const int64_t sent = s.commit(block, text.size(), false);
  if (sent < 0) {
    EXPECT_EQ(s.commit(block, 0, false), 0);
  }
  return sent;
}

// Random steps of writers and readers, some of which die: every pair keeps its order, nothing is
// lost or doubled between processes that live, and everybody comes to the end.
TEST(Stream, RandomJobs) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    Many many(static_cast<Balance>(random() % 3));
    std::vector<int> next(3), last(9, -1);
    std::set<std::string> written, seen;
    std::map<int, std::vector<const void*>> borrowed;  // by reader
    const int victim = random() % 2 == 0 ? static_cast<int>(random() % 3) : -1;
    for (int step = 0; step < 400; ++step) {
      many.world.now_ns += 1'000'000;
      const int rank = static_cast<int>(random() % 6);
      if (step == 200 && victim >= 0) many.world.dead.insert(victim);
      if (many.world.dead.contains(rank)) continue;
      if (rank < 3) {
        const std::string text = block_of(rank, next[static_cast<size_t>(rank)]);
        const int64_t sent =
            random() % 2 == 0 ? write_in_place(many.at(rank), text) : write(many.at(rank), text);
        if (sent > 0) {
          ++next[static_cast<size_t>(rank)];
          written.insert(text);
        }
        continue;
      }
      int from = -1;
      std::vector<const void*>& kept = borrowed[rank];
      while (!kept.empty() && random() % 2 == 0) {
        std::swap(kept[random() % kept.size()], kept.back());
        ASSERT_EQ(many.at(rank).release(kept.back()), 0);
        kept.pop_back();
      }
      const void* block = nullptr;
      const bool in_place = random() % 2 == 0;
      const std::string text = in_place ? borrow(many.at(rank), &block, false, &from)
                                        : read(many.at(rank), false, &from);
      if (in_place && text.find(':') != std::string::npos) kept.push_back(block);
      if (text == "eagain" || text == "died" || text == std::to_string(REFRAIN_EDIED)) continue;
      ASSERT_EQ(text.substr(0, 2), std::to_string(from) + ":");
      int& before = last[static_cast<size_t>(3 * from + rank - 3)];
      ASSERT_LT(before, std::stoi(text.substr(2)));
      before = std::stoi(text.substr(2));
      ASSERT_TRUE(seen.insert(text).second);
    }
    for (const auto& [rank, blocks] : borrowed)
      for (const void* block : blocks) ASSERT_EQ(many.at(rank).release(block), 0);
    // A close must not wait, because nobody else works meanwhile: readers take everything first.
    for (bool moved = true; moved;) {
      moved = false;
      for (int r = 3; r < 6; ++r)
        for (std::string text = read(many.at(r)); text != "eagain" && text != "end";
             text = read(many.at(r))) {
          moved = true;
          ASSERT_TRUE(text == "died" || seen.insert(text).second);
        }
      for (int w = 0; w < 3; ++w) {
        // Tests the sends that have ended meanwhile.
        char none = 0;
        static_cast<void>(many.at(w).write(&none, 0, false));
      }
    }
    for (int w = 0; w < 3; ++w)
      ASSERT_TRUE(many.world.dead.contains(w) || many.at(w).close(Ending::kClosed) == 0);
    for (int r = 3; r < 6; ++r) {
      std::string text;
      while ((text = read(many.at(r), true)) != "end") ASSERT_EQ(text, "died");
      EXPECT_EQ(many.at(r).dead().size(), victim >= 0 ? 1u : 0u);
      ASSERT_EQ(many.at(r).close(Ending::kClosed), 0);
    }
    EXPECT_EQ(seen, written);
  }
}

}  // namespace
}  // namespace refrain::stream
