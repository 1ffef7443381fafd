// What a receiver has of a spool file that was looked at while it grew is what a reader finds in
// the whole file: src/format/spool/read.h is the reference.
#include "format/live/encode/feeder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "format/live/decode/receiver.h"
#include "format/testing/spool_bytes.h"
#include "format/testing/synthetic.h"
#include "format/testing/table_records.h"
#include "format/time/block_encoder.h"
#include "grammar/terminal_cursor.h"
#include "mpi/call_ids.h"

namespace refrain::format::live {
namespace {

using testing::SpoolBytes;
using Calls = std::vector<uint32_t>;

class File {
 public:
  File()
      : path_(std::filesystem::temp_directory_path() /
              ("refrain_feeder_test." + std::to_string(getpid()))) {}
  ~File() { std::filesystem::remove(path_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  // In place, as a recorder does; what is not used is zero.
  void write(std::string bytes) {
    bytes.resize(size_ = std::max(size_, bytes.size()));
    const bool is_there = std::filesystem::exists(path_);
    std::fstream out(path_, is_there ? std::ios::binary | std::ios::in | std::ios::out
                                     : std::ios::binary | std::ios::out);
    out << bytes;
  }
  std::string path() const { return path_.string(); }

 private:
  const std::filesystem::path path_;
  size_t size_ = 0;
};

Calls calls_of(const RankRecord& r, size_t thread) {
  Calls all;
  for (grammar::TerminalCursor c(r.threads.at(thread).grammar); !c.at_end();)
    all.push_back(c.next());
  return all;
}

void expect_equal(const DurationStats& a, const DurationStats& b) {
  EXPECT_EQ(a.count, b.count);
  EXPECT_EQ(a.min_ns, b.min_ns);
  EXPECT_EQ(a.max_ns, b.max_ns);
  EXPECT_DOUBLE_EQ(a.sum_ns, b.sum_ns);
  for (size_t k = 0; k < Histogram::kBuckets; ++k) EXPECT_EQ(a.histogram[k], b.histogram[k]);
}

void expect_equal(const spool::RankSpool& a, const spool::RankSpool& b) {
  EXPECT_EQ(a.header.state, b.header.state);
  ASSERT_EQ(a.record.signatures.size(), b.record.signatures.size());
  for (size_t i = 0; i < a.record.signatures.size(); ++i) {
    EXPECT_EQ(a.record.signatures[i], b.record.signatures[i]);
    expect_equal(a.record.durations[i], b.record.durations[i]);
    if (!b.record.gaps.empty()) expect_equal(a.record.gaps.at(i), b.record.gaps[i]);
  }
  EXPECT_EQ(a.record.definitions, b.record.definitions);
  EXPECT_EQ(a.record.text, b.record.text);
  ASSERT_EQ(a.record.threads.size(), b.record.threads.size());
  for (size_t i = 0; i < a.record.threads.size(); ++i)
    EXPECT_EQ(calls_of(a.record, i), calls_of(b.record, i));
  EXPECT_EQ(a.record.totals.in_mpi_ns, b.record.totals.in_mpi_ns);
  EXPECT_EQ(a.record.totals.outside_ns, b.record.totals.outside_ns);
  EXPECT_EQ(a.record.duration_ns, b.record.duration_ns);
  ASSERT_EQ(a.threads.size(), b.threads.size());
  for (size_t i = 0; i < a.threads.size(); ++i) {
    EXPECT_EQ(a.threads[i].calls, b.threads[i].calls);
    EXPECT_EQ(a.threads[i].open_call, b.threads[i].open_call);
    EXPECT_EQ(a.threads[i].last_call, b.threads[i].last_call);
    EXPECT_EQ(a.threads[i].last_time_ns, b.threads[i].last_time_ns);
  }
}

// A spool file as it is after so many calls of a rank, of which `checkpoint` are in the base and
// `counted` in the statistics. Signatures are there when a call needs them.
class GrowingFile {
 public:
  explicit GrowingFile(bool has_gaps) : has_gaps_(has_gaps) {
    for (grammar::TerminalCursor c(halo_.threads[0].grammar); !c.at_end();)
      calls_.push_back(c.next());
  }
  uint64_t size() const { return calls_.size(); }

  std::string bytes(uint64_t n, uint64_t checkpoint, uint64_t counted, spool::State state) const {
    SpoolBytes s(4, 9);
    s.header().state = state;
    if (has_gaps_)
      s.record(spool::RecordKind::kText,
               std::string_view(testing::text_record("gaps", "on")).substr(1));
    s.definitions(halo_.definitions);
    uint32_t known = 0;
    for (uint64_t i = 0; i < n; ++i)
      for (; known <= calls_[i]; ++known) s.signature(halo_.signatures[known]);
    const bool is_open = n % 3 == 0;
    s.location(0, {is_open ? static_cast<uint32_t>(mpi::kMPI_Wait) : 0, 0, 400 + 10 * n});
    // Chunks stay where they are, as in a real file: those that are not valid yet, too.
    const Calls base(calls_.begin(), calls_.begin() + static_cast<int64_t>(checkpoint));
    s.base(0, checkpoint == 0 ? 0 : 1 + checkpoint, base);
    s.stats(counted == 0 ? 0 : 1 + counted, counted, stats(counted, ticks),
            has_gaps_ ? stats(counted, gap) : std::vector<DurationStats>());
    if (has_gaps_) {
      std::vector<SpoolBytes::GapCall> log;
      for (uint64_t i = checkpoint; i < n; ++i) log.push_back({calls_[i], ticks(i), gap(i)});
      s.log_with_gaps(0, checkpoint, log);
    } else {
      std::vector<std::pair<uint32_t, uint64_t>> log;
      for (uint64_t i = checkpoint; i < n; ++i) log.emplace_back(calls_[i], ticks(i));
      s.log(0, checkpoint, log);
    }
    return s.bytes();
  }

 private:
  using Ticks = uint64_t (*)(uint64_t);
  static uint64_t ticks(uint64_t i) { return i % 11 == 0 ? (uint64_t{3} << 32) + i : 5 + i % 7; }
  static uint64_t gap(uint64_t i) { return i % 5 == 0 ? (uint64_t{1} << 33) : i; }
  std::vector<DurationStats> stats(uint64_t n, Ticks of) const {
    std::vector<DurationStats> all;
    for (uint64_t i = 0; i < n; ++i) {
      if (all.size() <= calls_[i]) all.resize(calls_[i] + 1);
      spool::add_duration(all[calls_[i]], 2 * of(i));
    }
    return all;
  }

  const bool has_gaps_;
  RankRecord halo_ = testing::halo_2d(4, 3, 3, true, 40);
  Calls calls_;
};

// Looks come at any moment, also rarely: checkpoints clear the log in between.
TEST(Feeder, LooksGiveWhatTheFileHas) {
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    std::mt19937 random(seed);
    const GrowingFile run(seed % 2 == 0);
    File file;
    file.write(run.bytes(0, 0, 0, spool::State::kRunning));
    auto feeder = Feeder::open(file.path(), "run.rfn");
    ASSERT_TRUE(feeder.ok()) << feeder.error().to_string();
    Receiver receiver;
    uint64_t checkpoint = 0, counted = 0;
    for (uint64_t n = 0; n < run.size();) {
      n = std::min(run.size(), n + random() % (seed % 3 == 0 ? 90 : 9));
      const bool is_last = n == run.size();
      // Statistics are written first, then the base, then the log is cleared.
      if (random() % 4 == 0) checkpoint = counted;
      if (random() % 4 == 0) counted = n;
      if (random() % 4 == 0) checkpoint = counted = n;
      const std::string bytes =
          run.bytes(n, checkpoint, counted, is_last ? spool::State::kDone : spool::State::kRunning);
      file.write(bytes);
      if (!is_last && random() % 3 == 0) continue;
      const auto sent = is_last ? feeder->finish(EndReason::kFinished) : feeder->look();
      ASSERT_TRUE(sent.ok()) << sent.error().to_string();
      const base::Status received = receiver.receive(*sent);
      ASSERT_TRUE(received.ok()) << received.error().to_string() << " seed " << seed;
      EXPECT_TRUE(feeder->cursor().damage().empty()) << *feeder->cursor().damage().begin();
      const auto whole = spool::read(bytes);
      ASSERT_TRUE(whole.ok());
      SCOPED_TRACE("seed " + std::to_string(seed) + ", calls " + std::to_string(n) +
                   ", checkpoint " + std::to_string(checkpoint) + ", counted " +
                   std::to_string(counted));
      expect_equal(receiver.now(), *whole);
      if (HasFailure()) return;
    }
    EXPECT_TRUE(receiver.finish().ok());
    EXPECT_LT(receiver.bytes(), 100'000u);
  }
}

// So many calls of a thread, as a chunk of times has them; none: no bytes.
std::string block_of(uint64_t calls, const char* timing) {
  if (calls == 0) return {};
  BlockEncoder encoder(*TimeSpec::parse(timing));
  encoder.set_call(0, mpi::kMPI_Send);
  std::vector<TimedCall> timed;
  for (uint64_t i = 0; i < calls; ++i) timed.push_back({0, 2000 + 20 * i, 2010 + 20 * i});
  std::string coded;
  const TimeBlock b = encoder.encode(timed, coded);
  const spool::TimeBlockHead head{b.begin_ns, b.end_ns,   b.calls,
                                  b.bytes,    b.checksum, static_cast<uint32_t>(b.coding)};
  std::string bytes(reinterpret_cast<const char*>(&head), sizeof head);
  bytes += coded;
  bytes.resize(sizeof head + spool::padded(b.bytes));
  return bytes;
}

// Calls of one signature, with times in a row: some in a block, others behind it.
std::string timed_file(uint64_t calls, uint64_t in_block, const char* timing,
                       std::vector<spool::TimeRowCall> row) {
  const RankRecord halo = testing::halo_2d(4, 3, 3, true, 1);
  SpoolBytes s(4, 9);
  s.record(spool::RecordKind::kText,
           std::string_view(testing::text_record("timing", timing)).substr(1));
  s.definitions(halo.definitions).signature(halo.signatures[0]);
  s.location(0, {0, 0, 400 + 10 * calls});
  s.log(0, 0, std::vector<std::pair<uint32_t, uint64_t>>(calls, {0, 5}));
  s.chunk(spool::ChunkType::kTimes, 0, 0, 0, block_of(in_block, timing));
  const spool::TimeRowHead head{2.0, 0};
  std::string bytes(reinterpret_cast<const char*>(&head), sizeof head);
  row.resize(64);
  bytes.append(reinterpret_cast<const char*>(row.data()), row.size() * sizeof row[0]);
  return s.chunk(spool::ChunkType::kTimeRow, 0, 0, in_block, bytes).bytes();
}

// Call number i, in ticks: its ns are those of timed_file().
spool::TimeRowCall row_call(uint64_t i) {
  const uint64_t init = SpoolBytes(4, 9).header().init_ticks;
  return {init + 1000 + 10 * i, init + 1005 + 10 * i, 1, mpi::kMPI_Send};
}
std::vector<spool::TimeRowCall> row_of(uint64_t from, uint64_t to) {
  std::vector<spool::TimeRowCall> row;
  for (uint64_t i = from; i < to; ++i) row.push_back(row_call(i));
  return row;
}

class EarlyTimesTest : public ::testing::Test {
 protected:
  // The early times of the thread behind a look at such a file.
  EarlyTimes look(const std::string& bytes) {
    file_.write(bytes);
    if (!feeder_) {
      auto opened = Feeder::open(file_.path(), "run.rfn");
      EXPECT_TRUE(opened.ok());
      feeder_.emplace(std::move(*opened));
    }
    const auto sent = feeder_->look();
    EXPECT_TRUE(sent.ok());
    const base::Status got = receiver_.receive(*sent);
    EXPECT_TRUE(got.ok()) << got.error().to_string();
    const auto known = receiver_.early_times().find(0);
    return known == receiver_.early_times().end() ? EarlyTimes() : known->second;
  }
  static EarlyTimes expected(uint64_t from, uint64_t to) {
    EarlyTimes all{from, {}};
    for (uint64_t i = from; i < to; ++i) all.calls.emplace_back(2000 + 20 * i, 2010 + 20 * i);
    return all;
  }
  static void expect_equal(const EarlyTimes& a, const EarlyTimes& b) {
    EXPECT_EQ(a.calls, b.calls);
    EXPECT_EQ(b.calls.empty() ? 0 : a.first, b.calls.empty() ? 0 : b.first);
  }
  File file_;
  std::optional<Feeder> feeder_;
  Receiver receiver_;
};

TEST_F(EarlyTimesTest, ComeBeforeTheBlockAndGoWithIt) {
  // A call that has not returned by the log is not told, whatever the row has.
  expect_equal(look(timed_file(5, 0, "exact", row_of(0, 6))), expected(0, 5));
  expect_equal(look(timed_file(8, 0, "exact", row_of(0, 8))), expected(0, 8));
  EXPECT_GT(receiver_.looked_ns(), 0u);
  // The row was full, and became a block: then there is no hurry.
  expect_equal(look(timed_file(10, 8, "exact", row_of(8, 10))), expected(0, 0));
  EXPECT_EQ(receiver_.times().at(0).calls, 8u);
  expect_equal(look(timed_file(12, 8, "exact", row_of(8, 12))), expected(8, 12));
  expect_equal(look(timed_file(12, 8, "exact", row_of(8, 12))), expected(8, 12));
}

TEST_F(EarlyTimesTest, EndWhereTheRowIsBeingCleared) {
  std::vector<spool::TimeRowCall> row = row_of(0, 8);
  row[3].begin_ticks = 0;
  expect_equal(look(timed_file(8, 0, "exact", row)), expected(0, 3));
  row = row_of(0, 8);
  row[5].end_ticks = 0;
  expect_equal(look(timed_file(8, 0, "exact", row)), expected(0, 5));
  expect_equal(look(timed_file(8, 0, "exact", row_of(0, 8))), expected(0, 8));
}

TEST_F(EarlyTimesTest, AreOfExactTimesAlone) {
  expect_equal(look(timed_file(8, 0, "bins:0.02", row_of(0, 8))), expected(0, 0));
}

TEST(EarlyTimes, ThatAreNotTheNextOnesEndTheStream) {
  const std::vector<TimedCall> times = {{0, 10, 20}, {0, 30, 40}};
  const RankRecord halo = testing::halo_2d(4, 3, 3, true, 1);
  for (const uint64_t first : {0, 1}) {
    for (const uint64_t calls : {1, 2, 3}) {
      StreamWriter out(3);
      Hello hello;
      hello.header.world_size = 9;
      out.hello(hello);
      for (const std::string& r : testing::table_records(halo)) out.table(r);
      out.calls(0, Calls(calls, 0));
      out.early_times(0, first, times);
      Receiver receiver;
      EXPECT_EQ(receiver.receive(out.take()).ok(), first == 0 && calls >= 2) << first << calls;
    }
  }
}

// A thread may have written times of calls that the look at its log was too early for, or damaged
// ones: those of the others come all the same.
TEST(Feeder, TimesOfAThreadWaitForNoOther) {
  const RankRecord halo = testing::halo_2d(4, 3, 3, true, 1);
  for (const bool is_damaged : {false, true}) {
    SpoolBytes s(4, 9);
    s.record(spool::RecordKind::kText,
             std::string_view(testing::text_record("timing", "exact")).substr(1));
    s.definitions(halo.definitions).signature(halo.signatures[0]);
    for (uint32_t thread = 0; thread < 2; ++thread) {
      s.location(thread, {0, 0, 500});
      s.log(thread, 0, std::vector<std::pair<uint32_t, uint64_t>>(6, {0, 5}));
    }
    std::string first = block_of(is_damaged ? 6 : 8, "exact");
    if (is_damaged) first += block_of(6, "exact");  // which ends before those in front of it
    s.chunk(spool::ChunkType::kTimes, 0, 0, 0, first);
    s.chunk(spool::ChunkType::kTimes, 1, 0, 0, block_of(4, "exact"));
    File file;
    file.write(s.bytes());
    auto feeder = Feeder::open(file.path(), "run.rfn");
    ASSERT_TRUE(feeder.ok());
    const auto sent = feeder->look();
    ASSERT_TRUE(sent.ok());
    Receiver receiver;
    ASSERT_TRUE(receiver.receive(*sent).ok());
    EXPECT_EQ(receiver.times().contains(0), is_damaged);
    ASSERT_TRUE(receiver.times().contains(1));
    EXPECT_EQ(receiver.times().at(1).calls, 4u);
  }
}

// Damage is told and costs no more than it hit; nothing crashes.
TEST(Feeder, AnyBytesGiveAStreamThatIsSound) {
  const GrowingFile run(false);
  std::mt19937 random(3);
  int told = 0;
  for (int round = 0; round < 300; ++round) {
    std::string bytes = run.bytes(run.size(), 50, 50, spool::State::kRunning);
    for (uint32_t n = 1 + random() % 4; n > 0; --n) {
      const size_t page = 1 + random() % (bytes.size() / spool::kPageBytes - 1);
      bytes[page * spool::kPageBytes + random() % 1024] = static_cast<char>(random());
    }
    if (random() % 4 != 0) SpoolBytes::reseal(bytes);
    File file;
    file.write(bytes);
    auto feeder = Feeder::open(file.path(), "run.rfn");
    if (!feeder.ok()) continue;
    const auto sent = feeder->finish(EndReason::kDied);
    if (!sent.ok()) continue;
    Receiver receiver;
    const base::Status received = receiver.receive(*sent);
    ASSERT_TRUE(received.ok()) << received.error().to_string();
    told += feeder->cursor().damage().empty() ? 0 : 1;
  }
  EXPECT_GT(told, 20);
}

}  // namespace
}  // namespace refrain::format::live
