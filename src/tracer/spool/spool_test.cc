// The spool, and what else a record may go to: what was written comes back from the bytes alone.
#include "tracer/spool/spool.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/bytes.h"
#include "format/spool/cursor.h"
#include "format/spool/read.h"
#include "grammar/fold.h"
#include "grammar/terminal_cursor.h"
#include "tracer/calls/append_call.h"
#include "tracer/variants/testing/test_rank.h"

namespace refrain::tracer {
namespace {

using testing::TestRank;

// A folder for the files of a run.
class Folder {
 public:
  Folder()
      : path_(std::filesystem::temp_directory_path() /
              ("refrain_spool_test." + std::to_string(getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string output() const { return (path_ / "run.rfn").string(); }
  // The bytes of the only spool file: as they are at this moment.
  std::string bytes() const {
    std::ifstream in(file(), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::string file() const {
    for (const auto& entry : std::filesystem::directory_iterator(output() + ".spool"))
      return entry.path();
    return {};
  }

 private:
  const std::filesystem::path path_;
};

void call(Location& l, const std::string& signature) {
  const uint32_t terminal = extend_grammar(l, signature, 10);
  l.spool.push(l, terminal, 10);
}

std::vector<std::string> calls_in(const format::spool::RankSpool& spool) {
  std::vector<std::string> calls;
  for (const auto& thread : spool.record.threads)
    for (grammar::TerminalCursor at(thread.grammar); !at.at_end();)
      calls.emplace_back(spool.record.signatures[at.next()]);
  return calls;
}

// Signatures are bytes of calls: the reader looks into them.
std::string signature(uint32_t number) {
  base::ByteWriter out;
  out.put_varint(1);
  out.put_u8(0);  // no site
  out.put_u8(1);  // an integer
  out.put_zigzag(number);
  return std::string(out.view());
}

TEST(Spool, HasEveryCallThatReturned) {
  const Folder folder;
  TestRank rank;
  rank->options.output = folder.output();
  call(rank.location(), signature(0));  // before there is one
  Spool::open(*rank, 1, {{"program", "test"}});
  ASSERT_NE(rank->spool, nullptr);
  EXPECT_EQ(rank->sink, rank->spool);
  std::vector<std::string> calls = {signature(0)};
  std::mt19937 random(1);
  for (int i = 0; i < 30'000; ++i) {  // some checkpoints
    const uint32_t which = i % 3 != 0 ? i % 3 : static_cast<uint32_t>(random() % 50);
    calls.push_back(signature(which));
    call(rank.location(), calls.back());
    if (i % 9'999 != 0) continue;
    const auto read = format::spool::read(folder.bytes());
    ASSERT_TRUE(read.ok()) << read.error().to_string();
    EXPECT_EQ(calls_in(*read), calls) << "after " << i;
  }
  rank->spool->remove();
  EXPECT_FALSE(std::filesystem::exists(folder.output() + ".spool"));
}

// The calls of the test below: some signatures often, a new one now and then.
uint32_t which_of(uint64_t i) { return static_cast<uint32_t>(i % 37 == 0 ? 100 + i / 37 : i % 5); }

// Whether these are the first calls of the writer, in its order.
bool is_prefix(const std::vector<std::string>& calls) {
  for (uint64_t i = 0; i < calls.size(); ++i)
    if (calls[i] != signature(which_of(i))) return false;
  return true;
}

// What looks have told: the calls of the only thread, as bytes of their signatures.
class Told final : public format::spool::CursorSink {
 public:
  void table(std::string_view record) override {
    if (record[0] == static_cast<char>(format::spool::RecordKind::kSignature))
      signatures_.emplace_back(record.substr(1));
  }
  void calls(uint32_t, std::span<const uint32_t> terminals) override {
    for (const uint32_t t : terminals) all.push_back(signatures_.at(t));
  }
  bool snapshot(uint32_t, uint64_t, const grammar::Grammar&) override { return false; }
  void times(uint32_t, const format::TimeBlock&, std::string_view) override {}

  std::vector<std::string> all;

 private:
  std::vector<std::string> signatures_;
};

TEST(Spool, IsReadWhileItIsWritten) {
  const Folder folder;
  TestRank rank;
  rank->options.output = folder.output();
  Spool::open(*rank, 1, {});
  auto cursor = format::spool::Cursor::open(folder.file());
  ASSERT_TRUE(cursor.ok()) << cursor.error().to_string();
  std::atomic<bool> is_over = false;
  Told told;
  uint64_t good = 0;
  std::thread reader([&] {
    for (bool is_last = false; !is_last;) {
      is_last = is_over;
      const size_t before = told.all.size();
      const auto look = cursor->look(told);
      ASSERT_TRUE(look.ok()) << look.error().to_string();
      if (!*look) {  // said so: checkpoints came in between, each time
        ASSERT_EQ(told.all.size(), before);
        continue;
      }
      ++good;
      ASSERT_TRUE(cursor->damage().empty()) << *cursor->damage().begin();
      uint64_t counted = 0;
      for (const format::DurationStats& d : cursor->durations()) counted += d.count;
      ASSERT_EQ(counted, told.all.size()) << "statistics of other calls";
    }
  });
  constexpr uint64_t kCalls = 200'000;  // tens of checkpoints, several chunks of tables
  for (uint64_t i = 0; i < kCalls; ++i) call(rank.location(), signature(which_of(i)));
  is_over = true;
  reader.join();
  EXPECT_EQ(told.all.size(), kCalls) << "the last state is whole";
  EXPECT_TRUE(is_prefix(told.all));
  EXPECT_GT(good, 0u);
  rank->spool->remove();
  const auto removed = cursor->look(told);  // the file is open, and has its last state
  ASSERT_TRUE(removed.ok() && *removed);
  EXPECT_TRUE(cursor->file().is_removed());
  EXPECT_EQ(cursor->header().state, format::spool::State::kDone);
}

TEST(Spool, KeepsPartsThatMemoryHasNoRoomFor) {
  const Folder folder;
  TestRank rank;
  rank->options.output = folder.output();
  Spool::open(*rank, 1, {});
  Location& l = rank.location();
  std::vector<std::string> calls;
  for (uint32_t i = 0; i < 500; ++i) {
    calls.push_back(signature(i % 7));
    call(l, calls.back());
    if (i % 100 != 99) continue;
    ASSERT_TRUE(rank->sink->finish_part(l, 0, RecordSink::Part::kGrammar));
    EXPECT_EQ(l.grammar.length(), 0u);
  }
  const auto read = format::spool::read(folder.bytes());
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(calls_in(*read), calls);
  uint64_t lost = 0, lost_at_end = 0;
  const grammar::Grammar whole = rank->spool->whole_grammar(l, {}, &lost, &lost_at_end);
  EXPECT_EQ(grammar::lengths(whole).total(), 500u);
  EXPECT_EQ(lost + lost_at_end, 0u);
  rank->spool->remove();
}

TEST(Spool, AbandonedItStaysAsItWas) {
  const Folder folder;
  TestRank rank;
  rank->options.output = folder.output();
  Spool::open(*rank, 1, {});
  call(rank.location(), signature(3));
  rank->sink->abandon();
  rank->sink->loss("late", 1, "nobody reads it");
  const auto read = format::spool::read(folder.bytes());
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(calls_in(*read), std::vector<std::string>{signature(3)});
  for (const format::LossRecord& l : read->record.losses) EXPECT_NE(l.reason, "late");
}

// MPI_Initialized, as many libraries call it, and death right after MPI_Init.
TEST(Spool, HasNoTimeOutsideOfMpiFromBeforeTheRun) {
  const Folder folder;
  TestRank rank;
  rank->options.output = folder.output();
  Location& l = rank.location();
  call(l, signature(1));
  l.first_begin_ticks = rank->clock.ticks();
  l.last_end_ticks = l.first_begin_ticks + 10;
  l.begin_run(l.last_end_ticks + 10);
  Spool::open(*rank, 1, {});
  const auto read = format::spool::read(folder.bytes());
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(calls_in(*read), std::vector<std::string>{signature(1)});
  EXPECT_EQ(read->record.totals.outside_ns, 0u);
}

// A record that goes elsewhere: to a list of what it was told.
class ListSink final : public RecordSink {
 public:
  void definition(const format::Definition&) override { told.emplace_back("definition"); }
  void signature(std::string_view) override { told.emplace_back("signature"); }
  void loss(const char* reason, uint64_t, const char*) override {
    told.emplace_back(std::string("loss ") + reason);
  }
  void text(const std::string&, const std::string&) override {}
  void place(const format::RankPlace&) override {}
  void clock_point(const format::ClockPoint&) override {}
  void attach(Location&) override { told.emplace_back("attach"); }
  void push_slowly(Location&, uint32_t, uint64_t, uint64_t) override {}
  bool finish_part(Location& l, uint32_t, Part) override {
    told.emplace_back("part of " + std::to_string(l.grammar.length()));
    l.grammar = grammar::Builder();
    return true;
  }
  bool times(Location&, const format::TimeBlock&, std::string_view) override { return false; }
  bool may_keep_times() override { return true; }
  bool each_run_of_times(const Location&, const TimeVisit&) override { return true; }
  void own_piece(uint32_t, uint64_t, uint64_t) override {}
  void set_state(format::spool::State) override {}
  void abandon() override {}
  uint64_t mapped() const override { return 0; }

  std::vector<std::string> told;
};

TEST(RecordSink, IsToldOfWhatIsNewBeforeAnybodyRefersToIt) {
  TestRank rank;
  ListSink sink;
  rank->sink = &sink;
  call(rank.location(), signature(1));
  call(rank.location(), signature(2));
  call(rank.location(), signature(1));
  rank->define_source_site("a.py", "f", 3);
  rank->define_source_site("a.py", "f", 3);
  rank->lose("some_reason", "what");
  EXPECT_TRUE(rank->sink->finish_part(rank.location(), 0, RecordSink::Part::kGrammar));
  EXPECT_EQ(sink.told, (std::vector<std::string>{"signature", "signature", "definition",
                                                 "definition", "loss some_reason", "part of 3"}));
  rank->sink = nullptr;
}

}  // namespace
}  // namespace refrain::tracer
