// What a receiver has of a spool file that was looked at while it grew is what a reader finds in
// the whole file: src/format/spool/read.h is the reference.
#include "format/live/encode/feeder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include "format/live/decode/receiver.h"
#include "format/testing/spool_bytes.h"
#include "format/testing/synthetic.h"
#include "format/testing/table_records.h"
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
