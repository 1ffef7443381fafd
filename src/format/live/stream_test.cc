// What is received is what was written; anything else gives an error, wherever it is cut or
// changed.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>

#include "format/live/decode/receiver.h"
#include "format/live/encode/stream_writer.h"
#include "format/spool/post_mortem.h"
#include "format/testing/synthetic.h"
#include "format/testing/table_records.h"
#include "grammar/terminal_cursor.h"
#include "mpi/call_ids.h"

namespace refrain::format::live {
namespace {

using Calls = std::vector<uint32_t>;

Calls calls_of(const grammar::Grammar& g) {
  Calls all;
  for (grammar::TerminalCursor c(g); !c.at_end();) all.push_back(c.next());
  return all;
}

Hello hello_of(uint64_t rank, uint64_t ranks) {
  Hello hello;
  hello.job = "test.rfn";
  spool::Header& h = hello.header;
  h.rank = static_cast<int32_t>(rank);
  h.world_size = static_cast<uint32_t>(ranks);
  h.run = 17;
  h.pid = -1;
  std::copy_n("node7", 6, h.host);
  h.opened_realtime_ns = 1'000'000'000;
  h.opened_ticks = h.init_ticks = 5;
  h.ns_per_tick = 0.5;
  return hello;
}

State state_of(uint64_t calls) {
  State s;
  s.state = spool::State::kFinishing;
  s.ns_per_tick = 0.25;
  s.in_mpi_ns = 1000, s.outside_ns = 7, s.duration_ns = 2000;
  spool::Progress p;
  p.calls = calls;
  p.open_call = mpi::kMPI_Wait;
  p.last_call = mpi::kMPI_Send;
  p.last_time_ns = 1'000'000'123;
  s.threads.push_back(p);
  return s;
}

// The stream of a rank of a halo exchange, with looks at random moments.
struct Sample {
  RankRecord record = testing::halo_2d(4, 3, 3, true, 12);
  Calls calls = calls_of(record.threads[0].grammar);
  std::string bytes;
  std::vector<size_t> block_ends;

  explicit Sample(uint32_t seed = 1) {
    std::mt19937 random(seed);
    StreamWriter out(3);
    const auto end_block = [&] {
      bytes += out.take();
      if (block_ends.empty() || block_ends.back() < bytes.size())
        block_ends.push_back(bytes.size());
    };
    out.hello(hello_of(4, 9));
    for (const std::string& r : testing::table_records(record)) out.table(r);
    end_block();
    std::deque<DurationStats> sofar(record.durations.size());
    for (size_t at = 0; at < calls.size();) {
      const size_t n = std::min<size_t>(calls.size() - at, random() % 20);
      out.calls(0, std::span(calls).subspan(at, n));
      at += n;
      for (size_t i = random() % 7; i < sofar.size(); i += 3) sofar[i] = record.durations[i];
      out.statistics(Statistic::kDurations, sofar);
      out.state(state_of(at));
      end_block();
    }
    out.statistics(Statistic::kDurations, record.durations);
    out.end(EndReason::kFinished);
    end_block();
  }
};

// Takes what was received apart again.
void expect_equal(const Receiver& receiver, const Sample& sample) {
  const spool::RankSpool got = receiver.now();
  const RankRecord& r = got.record;
  EXPECT_EQ(got.header.run, 17u);
  EXPECT_EQ(got.header.state, spool::State::kFinishing);
  EXPECT_STREQ(got.header.host, "node7");
  EXPECT_EQ(receiver.hello().job, "test.rfn");
  EXPECT_EQ(receiver.end(), EndReason::kFinished);
  ASSERT_EQ(r.threads.size(), 1u);
  EXPECT_EQ(calls_of(r.threads[0].grammar), sample.calls);
  grammar::Builder builder;
  for (const uint32_t t : sample.calls) builder.append(t);
  EXPECT_EQ(r.threads[0].grammar, builder.finish()) << "the grammar of the writer";
  ASSERT_EQ(r.signatures.size(), sample.record.signatures.size());
  for (size_t i = 0; i < r.signatures.size(); ++i) {
    EXPECT_EQ(r.signatures[i], sample.record.signatures[i]);
    const DurationStats &a = r.durations[i], &b = sample.record.durations[i];
    EXPECT_EQ(a.count, b.count);
    EXPECT_EQ(a.min_ns, b.min_ns);
    EXPECT_EQ(a.max_ns, b.max_ns);
    EXPECT_EQ(a.sum_ns, b.sum_ns);
    for (size_t k = 0; k < Histogram::kBuckets; ++k) EXPECT_EQ(a.histogram[k], b.histogram[k]);
  }
  ASSERT_EQ(got.threads.size(), 1u);
  EXPECT_EQ(got.threads[0].calls, sample.calls.size());
  EXPECT_EQ(got.threads[0].open_call, mpi::kMPI_Wait);
  EXPECT_EQ(r.totals.in_mpi_ns, 1000u);
}

TEST(LiveStream, WhatWasWrittenIsReceived) {
  for (uint32_t seed = 1; seed < 20; ++seed) {
    const Sample sample(seed);
    Receiver receiver;
    ASSERT_TRUE(receiver.receive(sample.bytes).ok());
    EXPECT_TRUE(receiver.finish().ok());
    expect_equal(receiver, sample);
    auto part = leaf(receiver.now().record, 9);
    EXPECT_TRUE(part.ok());
  }
}

TEST(LiveStream, PiecesOfAnySizeAreTheSame) {
  const Sample sample;
  std::mt19937 random(5);
  for (int round = 0; round < 20; ++round) {
    Receiver receiver;
    for (size_t at = 0; at < sample.bytes.size();) {
      const size_t n = std::min<size_t>(sample.bytes.size() - at,
                                        round == 0 ? 1 : 1 + random() % (1u << round % 12));
      ASSERT_TRUE(receiver.receive(std::string_view(sample.bytes).substr(at, n)).ok());
      at += n;
    }
    EXPECT_TRUE(receiver.finish().ok());
    expect_equal(receiver, sample);
  }
}

TEST(LiveStream, CutAnywhereItIsNotComplete) {
  const Sample sample;
  for (size_t n = 0; n < sample.bytes.size(); ++n) {
    Receiver receiver;
    ASSERT_TRUE(receiver.receive(std::string_view(sample.bytes).substr(0, n)).ok()) << n;
    EXPECT_FALSE(receiver.finish().ok()) << n;
    if (!receiver.has_begun()) continue;
    // What there is of the calls is their beginning.
    const spool::RankSpool part = receiver.now();
    if (part.record.threads.empty()) continue;
    const Calls calls = calls_of(part.record.threads[0].grammar);
    EXPECT_TRUE(std::equal(calls.begin(), calls.end(), sample.calls.begin())) << n;
  }
}

TEST(LiveStream, EveryFlippedBitIsFound) {
  const Sample sample;
  for (size_t bit = 0; bit < 8 * sample.bytes.size(); ++bit) {
    std::string bytes = sample.bytes;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8);
    Receiver receiver;
    const base::Status all = receiver.receive(bytes);
    ASSERT_FALSE(all.ok() && receiver.finish().ok()) << "bit " << bit;
    if (all.ok()) continue;  // a length that grew: the rest is awaited
    EXPECT_FALSE(receiver.receive(sample.bytes).ok()) << "an error stays";
  }
}

// A block of the sample.
std::string block(const Sample& s, size_t i) {
  const size_t begin = i == 0 ? 0 : s.block_ends[i - 1];
  return s.bytes.substr(begin, s.block_ends[i] - begin);
}

TEST(LiveStream, BlocksInAnotherOrderAreRefused) {
  const Sample sample;
  ASSERT_GT(sample.block_ends.size(), 3u);
  const std::string first = block(sample, 0), second = block(sample, 1), third = block(sample, 2);
  for (const auto& [bytes, what] :
       {std::pair(first + first, "came again"), std::pair(first + second + second, "came again"),
        std::pair(first + third, "missing"), std::pair(second, "missing")}) {
    Receiver receiver;
    const base::Status all = receiver.receive(bytes);
    ASSERT_FALSE(all.ok());
    EXPECT_NE(all.error().message.find(what), std::string::npos) << all.error().to_string();
  }
  StreamWriter other(4);
  other.hello(hello_of(4, 9));
  (void)other.take();
  other.part(0);
  Receiver receiver;
  const base::Status all = receiver.receive(first + other.take());
  ASSERT_FALSE(all.ok());
  EXPECT_NE(all.error().message.find("another writer"), std::string::npos);
}

TEST(LiveStream, AnotherVersionIsNotSupported) {
  Sample sample;
  sample.bytes[4] = 2;
  Receiver receiver;
  const base::Status all = receiver.receive(sample.bytes);
  ASSERT_FALSE(all.ok());
  EXPECT_EQ(all.error().code, base::ErrorCode::kUnsupported);
}

// Sound blocks with records that contradict the stream.
TEST(LiveStream, ForgedRecordsAreRefused) {
  const auto refused = [](const char* what, const auto& write) {
    StreamWriter out(1);
    out.hello(hello_of(0, 2));
    out.table(testing::table_record(spool::RecordKind::kSignature, testing::Sig(1, 0).bytes()));
    write(out);
    Receiver receiver;
    EXPECT_FALSE(receiver.receive(out.take()).ok()) << what;
  };
  const uint32_t none[] = {7};
  refused("a call without a signature", [&](StreamWriter& o) { o.calls(0, none); });
  refused("a second hello", [](StreamWriter& o) { o.hello(hello_of(0, 2)); });
  refused("the same signature again", [](StreamWriter& o) {
    o.table(testing::table_record(spool::RecordKind::kSignature, testing::Sig(1, 0).bytes()));
  });
  refused("statistics of no signature", [](StreamWriter& o) {
    std::deque<DurationStats> two(2);
    two[1].count = 1;
    two[1].histogram.add(0, 1);
    o.statistics(Statistic::kDurations, two);
  });
  refused("a state with other calls", [](StreamWriter& o) { o.state(state_of(3)); });
  refused("times of calls that did not come", [](StreamWriter& o) {
    o.times(0, TimeBlock{1, 0, checksum32(""), 1, 2}, "");
  });
  refused("a record behind the end", [](StreamWriter& o) {
    o.end(EndReason::kDied);
    o.part(0);
  });
  grammar::Builder builder;
  builder.append(0);
  const grammar::Grammar one = builder.finish();
  refused("a snapshot of another length", [&](StreamWriter& o) { o.snapshot(0, 2, one); });
}

TEST(LiveStream, PartsAndSnapshotsKeepTheCalls) {
  StreamWriter out(1);
  out.hello(hello_of(0, 1));
  for (uint32_t i = 0; i < 3; ++i)
    out.table(testing::table_record(spool::RecordKind::kSignature, testing::Sig(1, i).bytes()));
  const Calls a = {0, 1, 0, 1, 2}, b = {0, 1, 0, 1, 1};
  out.calls(5, a);
  out.part(5);
  out.calls(5, b);
  grammar::Builder whole;
  Calls all;
  for (const Calls* some : {&a, &b, &a}) all.insert(all.end(), some->begin(), some->end());
  for (const uint32_t t : all) whole.append(t);
  Receiver receiver;
  ASSERT_TRUE(receiver.receive(out.take()).ok());
  EXPECT_EQ(calls_of(receiver.now().record.threads.at(0).grammar),
            Calls(all.begin(), all.end() - 5));
  ASSERT_TRUE(out.snapshot(5, all.size(), whole.snapshot()));
  out.calls(5, b);
  all.insert(all.end(), b.begin(), b.end());
  EXPECT_EQ(out.calls(), all.size());
  out.end(EndReason::kStopped);
  ASSERT_TRUE(receiver.receive(out.take()).ok());
  EXPECT_EQ(calls_of(receiver.now().record.threads.at(0).grammar), all);
  EXPECT_EQ(receiver.end(), EndReason::kStopped);
}

TEST(LiveStream, ALoopTakesAFewBytes) {
  StreamWriter out(1);
  out.hello(hello_of(0, 1));
  for (uint32_t i = 0; i < 4; ++i)
    out.table(testing::table_record(spool::RecordKind::kSignature, testing::Sig(1, i).bytes()));
  Calls loop(3'000'000);
  for (size_t i = 0; i < loop.size(); ++i) loop[i] = i % 4;
  Receiver receiver;
  ASSERT_TRUE(receiver.receive(out.take()).ok());
  out.calls(0, loop);
  const std::string bytes = out.take();
  EXPECT_LT(bytes.size(), 120u) << "three records of 2^20 calls at most, in a block";
  ASSERT_TRUE(receiver.receive(bytes).ok());
  EXPECT_EQ(receiver.calls(), loop.size());
}

TEST(LiveStream, TimesBeyondTheLimitAreALoss) {
  StreamWriter out(1);
  out.hello(hello_of(0, 1));
  out.table(testing::table_record(spool::RecordKind::kSignature, testing::Sig(1, 0).bytes()));
  out.table(testing::text_record("timing", "exact"));
  const Calls calls(30, 0);
  out.calls(0, calls);
  const std::string coded(100, 'x');
  for (uint64_t i = 0; i < 3; ++i)
    out.times(0, TimeBlock{10, 100, checksum32(coded), 10 * i, 10 * i + 9}, coded);
  const std::string bytes = out.take();
  for (const uint64_t limit : {uint64_t{1000}, uint64_t{250}}) {
    Receiver receiver({limit});
    ASSERT_TRUE(receiver.receive(bytes).ok());
    const spool::RankSpool all = receiver.take();
    ASSERT_EQ(all.times.size(), 1u);
    EXPECT_EQ(all.times[0].calls, limit == 1000 ? 30u : 20u);
    EXPECT_EQ(all.record.losses.size(), limit == 1000 ? 0u : 1u);
    if (limit == 1000) continue;
    EXPECT_EQ(all.record.losses[0].reason, "times_missing");
    EXPECT_EQ(all.record.losses[0].calls, 10u);
  }
}

// The examples of docs/live_format.md.
std::string document() {
  std::ifstream in(REFRAIN_DOCS_DIR "/live_format.md");
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string hex(std::string_view bytes, const std::vector<size_t>& groups) {
  std::string out;
  size_t at = 0;
  for (const size_t n : groups) {
    if (at > 0) out += ' ';
    for (size_t i = 0; i < n; ++i, ++at) {
      constexpr const char* kDigits = "0123456789abcdef";
      out += kDigits[static_cast<unsigned char>(bytes[at]) >> 4];
      out += kDigits[bytes[at] & 15];
    }
  }
  return out;
}

TEST(LiveStream, TheDocumentIsRight) {
  base::ByteWriter head;
  head.put_u32(kBlockMagic);
  head.put_u32(kVersion);
  head.put_u64(7);
  head.put_u64(0);
  head.put_u32(0);
  head.put_u32(checksum32(""));
  head.put_u32(checksum32(head.view()));
  const std::string empty = hex(head.view(), {4, 1, 3, 8, 8, 4, 4, 4});
  EXPECT_NE(document().find("\n" + empty + "\n"), std::string::npos) << empty;
  Receiver receiver;
  EXPECT_TRUE(receiver.receive(head.view()).ok());

  StreamWriter out(1);
  out.hello(hello_of(0, 1));
  for (uint32_t i = 0; i < 6; ++i)
    out.table(testing::table_record(spool::RecordKind::kSignature, testing::Sig(1, i).bytes()));
  Calls loop(1020);
  for (size_t i = 0; i < loop.size(); ++i) loop[i] = 4 + i % 2;
  out.calls(0, std::span(loop).first(20));
  (void)out.take();
  out.calls(0, std::span(loop).subspan(20));
  const std::string calls =
      hex(std::string_view(out.take()).substr(kBlockHeadBytes), {1, 1, 1, 1, 2, 1});
  EXPECT_NE(document().find("\n" + calls + "\n"), std::string::npos) << calls;
}

}  // namespace
}  // namespace refrain::format::live
