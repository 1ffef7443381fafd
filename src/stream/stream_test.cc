// Streams of a job in memory: its processes are objects of one thread, and the test decides who
// works and who dies.
#include "stream/stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <set>

#include "refrain/coupling.h"

namespace refrain::stream {
namespace {

// All messages of all processes. A send ends when it meets a receive, in order of both, as MPI's
// synchronous ones do.
class World {
 public:
  struct Message {
    const void* out = nullptr;
    void* in = nullptr;
    size_t bytes = 0, capacity = 0;
    bool done = false, cancelled = false;
  };
  struct Key {
    int from, to, tag;
    bool operator<(const Key& o) const {
      return std::tie(from, to, tag) < std::tie(o.from, o.to, o.tag);
    }
  };

  int add(const Key& key, bool is_send, Message m) {
    messages.push_back(m);
    const int number = static_cast<int>(messages.size()) - 1;
    (is_send ? sends : receives)[key].push_back(number);
    match(key);
    return number;
  }

  void match(const Key& key) {
    std::vector<int>&out = sends[key], &in = receives[key];
    std::erase_if(in, [&](int n) { return messages[static_cast<size_t>(n)].cancelled; });
    while (!out.empty() && !in.empty()) {
      Message &from = messages[static_cast<size_t>(out[0])],
              &to = messages[static_cast<size_t>(in[0])];
      ASSERT_LE(from.bytes, to.capacity);
      std::memcpy(to.in, from.out, from.bytes);
      to.bytes = from.bytes;
      from.done = to.done = true;
      out.erase(out.begin());
      in.erase(in.begin());
    }
  }

  size_t open_receives() const {
    return static_cast<size_t>(
        std::count_if(messages.begin(), messages.end(),
                      [](const Message& m) { return m.in != nullptr && !m.done && !m.cancelled; }));
  }

  std::vector<Message> messages;
  std::map<Key, std::vector<int>> sends, receives;
  std::set<int> dead;
  int64_t now_ns = 0;
};

// Thrown out of a call that would wait for ever: nobody else works while it waits.
struct Waits {};

class Rank : public Transport {
 public:
  Rank(World& world, int rank) : world_(world), rank_(rank) {}
  Request send(int rank, int tag, const void* data, size_t bytes) override {
    return world_.add({rank_, rank, tag}, true, {data, nullptr, bytes, 0});
  }
  Request receive(int rank, int tag, void* data, size_t capacity) override {
    return world_.add({rank, rank_, tag}, false, {nullptr, data, 0, capacity});
  }
  Test test(Request request, size_t* bytes) override {
    const World::Message& m = world_.messages[static_cast<size_t>(request)];
    if (!m.done) return Test::kOpen;
    if (bytes != nullptr) *bytes = m.bytes;
    return Test::kDone;
  }
  void cancel(Request request) override {
    world_.messages[static_cast<size_t>(request)].cancelled = true;
  }
  bool is_alive(int rank) override { return !world_.dead.contains(rank); }
  int64_t now_ns() override { return world_.now_ns; }
  void pause(int round) override {
    world_.now_ns += 60'000'000;
    if (round > 200) throw Waits();
  }

 private:
  World& world_;
  int rank_;
};

constexpr int kTag = 10;

StreamOptions options(Balance balance, size_t block = 64, int buffers = 3) {
  StreamOptions o;
  o.block_bytes = block;
  o.buffers = buffers;
  o.balance = balance;
  return o;
}

// A block that says who wrote it and which it is.
std::string block_of(int rank, int number) {
  return std::to_string(rank) + ":" + std::to_string(number);
}

int64_t write(Stream& s, const std::string& text, bool wait = false) {
  return s.write(text.data(), text.size(), wait);
}

// Text, "eagain", "end" or "died".
std::string read(Stream& s, bool wait = false, int* from = nullptr) {
  char data[64];
  const int64_t got = s.read(data, wait, from);
  if (got > 0) return std::string(data, static_cast<size_t>(got));
  return got == 0                ? "end"
         : got == REFRAIN_EAGAIN ? "eagain"
         : got == REFRAIN_EDIED  ? "died"
                                 : std::to_string(got);
}

// One writer (rank 0) and one reader (rank 1).
struct Pair {
  explicit Pair(int buffers = 3)
      : writer(zero, options(Balance::kNone, 64, buffers)),
        reader(one, options(Balance::kNone, 64, buffers)) {
    EXPECT_EQ(writer.open(1, kTag, false, true), 0);
    EXPECT_EQ(reader.open(0, kTag, true, false), 0);
  }
  World world;
  Rank zero{world, 0}, one{world, 1};
  Stream writer, reader;
};

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

// Random steps of writers and readers, some of which die: every pair keeps its order, nothing is
// lost or doubled between processes that live, and everybody comes to the end.
TEST(Stream, RandomJobs) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    Many many(static_cast<Balance>(random() % 3));
    std::vector<int> next(3), last(9, -1);
    std::set<std::string> written, seen;
    const int victim = random() % 2 == 0 ? static_cast<int>(random() % 3) : -1;
    for (int step = 0; step < 400; ++step) {
      many.world.now_ns += 1'000'000;
      const int rank = static_cast<int>(random() % 6);
      if (step == 200 && victim >= 0) many.world.dead.insert(victim);
      if (many.world.dead.contains(rank)) continue;
      if (rank < 3) {
        const std::string text = block_of(rank, next[static_cast<size_t>(rank)]);
        if (write(many.at(rank), text) > 0) {
          ++next[static_cast<size_t>(rank)];
          written.insert(text);
        }
        continue;
      }
      int from = -1;
      const std::string text = read(many.at(rank), false, &from);
      if (text == "eagain" || text == "died") continue;
      ASSERT_EQ(text.substr(0, 2), std::to_string(from) + ":");
      int& before = last[static_cast<size_t>(3 * from + rank - 3)];
      ASSERT_LT(before, std::stoi(text.substr(2)));
      before = std::stoi(text.substr(2));
      ASSERT_TRUE(seen.insert(text).second);
    }
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
