// What a process that died left is read as far as it goes, and damage costs no more than it hit.
#include "format/spool/read.h"

#include <gtest/gtest.h>

#include <random>

#include "format/content.h"
#include "format/encode/encode.h"
#include "format/spool/post_mortem.h"
#include "format/testing/spool_bytes.h"
#include "format/testing/synthetic.h"
#include "grammar/terminal_cursor.h"
#include "mpi/call_ids.h"

namespace refrain::format::spool {
namespace {

using testing::SpoolBytes;
using Calls = std::vector<uint32_t>;

// Signature `i` of a rank without definitions: three calls without a site.
std::string signature(uint32_t i) {
  base::ByteWriter out;
  const mpi::CallId calls[] = {mpi::kMPI_Barrier, mpi::kMPI_Pcontrol, mpi::kMPI_Pcontrol};
  out.put_varint(calls[i]);
  out.put_u8(static_cast<uint8_t>(FieldTag::kNone));  // no site
  if (i > 0) {
    out.put_u8(static_cast<uint8_t>(FieldTag::kInt));
    out.put_zigzag(i);
  }
  return std::string(out.view());
}

SpoolBytes rank_of(uint64_t rank, uint64_t world_size) {
  SpoolBytes s(rank, world_size);
  for (uint32_t i = 0; i < 3; ++i) s.signature(signature(i));
  return s;
}

Calls calls_of(const RankSpool& r, size_t thread = 0) {
  Calls all;
  for (grammar::TerminalCursor c(r.record.threads.at(thread).grammar); !c.at_end();)
    all.push_back(c.next());
  return all;
}

TEST(SpoolRead, LogAlone) {
  SpoolBytes s = rank_of(3, 8);
  s.location(0, {mpi::kMPI_Pcontrol, 0, 900});
  s.log(0, 0, {{0, 10}, {1, 20}, {1, uint64_t{1} << 33}});
  const auto r = read(s.bytes());
  ASSERT_TRUE(r.ok()) << r.error().to_string();
  EXPECT_TRUE(r->damage.empty()) << r->damage[0];
  EXPECT_EQ(r->record.rank, 3u);
  EXPECT_EQ(r->record.host, "node");
  EXPECT_EQ(calls_of(*r), (Calls{0, 1, 1}));
  ASSERT_EQ(r->record.signatures.size(), 2u) << "the third has no call";
  EXPECT_EQ(r->record.durations[0].sum_ns, 20);
  EXPECT_EQ(r->record.durations[1].count, 2u);
  EXPECT_EQ(r->record.durations[1].min_ns, 40u);
  EXPECT_EQ(r->record.durations[1].max_ns, uint64_t{1} << 34);
  ASSERT_EQ(r->threads.size(), 1u);
  EXPECT_EQ(r->threads[0].calls, 3u);
  EXPECT_EQ(r->threads[0].open_call, mpi::kMPI_Pcontrol);
  EXPECT_EQ(r->threads[0].last_call, mpi::kMPI_Pcontrol);
  EXPECT_EQ(r->threads[0].last_time_ns, 1000000u + 2 * (900 - 100));
}

TEST(SpoolRead, GapsOfTheLogAndOfStatistics) {
  SpoolBytes s = rank_of(0, 1);
  base::ByteWriter says_so;
  says_so.put_string("gaps");
  says_so.put_string("on");
  s.record(RecordKind::kText, says_so.view());
  s.location(0, {0, 0, 300});
  s.base(0, 4, {0, 1, 2, 1});
  DurationStats known;
  known.count = 2;
  known.min_ns = 5, known.max_ns = 7, known.sum_ns = 12;
  s.stats(9, 4, {known, known, known}, {known, known});
  // The base has the first two of these, and the statistics too.
  s.log_with_gaps(0, 2,
                  {{2, 8, 1}, {1, 9, 1}, {1, 10, 50}, {0, 11, uint64_t{1} << 34}, {2, 12, 0}});
  const auto r = read(s.bytes());
  ASSERT_TRUE(r.ok()) << r.error().to_string();
  EXPECT_TRUE(r->damage.empty()) << r->damage[0];
  EXPECT_EQ(calls_of(*r), (Calls{0, 1, 2, 1, 1, 0, 2}));
  ASSERT_EQ(r->record.gaps.size(), 3u);
  EXPECT_EQ(r->record.gaps[0].count, 3u);
  EXPECT_EQ(r->record.gaps[0].max_ns, uint64_t{1} << 35);
  EXPECT_EQ(r->record.gaps[1].count, 3u);
  EXPECT_EQ(r->record.gaps[1].sum_ns, 12 + 100);
  EXPECT_EQ(r->record.gaps[2].count, 1u);
  EXPECT_EQ(r->record.gaps[2].sum_ns, 0);
  EXPECT_EQ(r->record.durations[1].sum_ns, 12 + 20);
}

// As in a trace: with statistics alone nobody could see where they lie.
TEST(SpoolRead, OwnWorkLiesBehindCallsThatHaveTimes) {
  for (const auto& [timing, has_times] : {std::pair("stats", false), {"exact", true}}) {
    SpoolBytes s = rank_of(0, 1);
    base::ByteWriter text, piece;
    text.put_string("timing");
    text.put_string(timing);
    for (const uint64_t v : {0, 1, 500}) piece.put_varint(v);  // of thread 0, behind call 1
    s.record(RecordKind::kText, text.view()).record(RecordKind::kOwnPiece, piece.view());
    s.location(0, {0, 0, 3000});
    s.log(0, 0, {{0, 10}, {1, 20}, {1, 30}});
    const auto r = read(s.bytes());
    ASSERT_TRUE(r.ok()) << r.error().to_string();
    EXPECT_EQ(r->record.totals.own_ns, 500u) << timing;
    ASSERT_EQ(r->record.own_work.size(), has_times ? 1u : 0u) << timing;
    if (has_times) {
      EXPECT_EQ(r->record.own_work[0].pieces[0].call, 1u);
    }
  }
}

TEST(SpoolRead, WithoutGapsThereAreNone) {
  SpoolBytes s = rank_of(0, 1);
  s.location(0, {0, 0, 300});
  s.log_with_gaps(0, 0, {{0, 8, 1}, {1, 9, 1}});
  const auto r = read(s.bytes());
  ASSERT_TRUE(r.ok()) << r.error().to_string();
  EXPECT_EQ(calls_of(*r), (Calls{0, 1}));
  EXPECT_TRUE(r->record.gaps.empty());
}

TEST(SpoolRead, LogBehindBase) {
  SpoolBytes s = rank_of(0, 1);
  s.location(0, {0, 0, 300});
  s.base(0, 4, {0, 1, 2, 1, 2, 1}).base(0, 5, {0, 1, 2, 1, 2, 1, 2, 2});
  DurationStats known;
  known.count = 3;
  known.min_ns = 5;
  known.max_ns = 7;
  known.sum_ns = 18;
  s.stats(9, 8, {known, known, known});
  // One chunk whose calls the base has in part, and one behind it.
  s.log(0, 10, {{1, 50}}).log(0, 6, {{2, 1}, {2, 1}, {0, 50}, {0, 50}});
  const auto r = read(s.bytes());
  ASSERT_TRUE(r.ok());
  EXPECT_TRUE(r->damage.empty()) << r->damage[0];
  EXPECT_EQ(calls_of(*r), (Calls{0, 1, 2, 1, 2, 1, 2, 2, 0, 0, 1}));
  EXPECT_EQ(r->record.durations[0].count, 5u);
  EXPECT_EQ(r->record.durations[2].count, 3u) << "these are in the statistics";
  EXPECT_EQ(r->record.totals.in_mpi_ns, 70u + 300);
  EXPECT_EQ(r->record.totals.outside_ns, 30u + (2 * (350 - 150) - 300));
}

TEST(SpoolRead, PartsThenBase) {
  SpoolBytes s = rank_of(0, 1);
  s.location(0, {});
  s.base(0, 7, {2, 2, 1}, 5).base(0, 6, {2, 2}, 5).base(0, 2, {0, 1, 0}).base(0, 4, {1, 0}, 3);
  s.log(0, 7, {{1, 1}, {0, 1}});
  const auto r = read(s.bytes());
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(calls_of(*r), (Calls{0, 1, 0, 1, 0, 2, 2, 1, 0}));
}

TEST(SpoolRead, SignaturesThatCameBackAreTheSame) {
  SpoolBytes s = rank_of(0, 1);
  s.signature(signature(1)).signature(signature(0));  // terminals 3 and 4
  s.location(0, {});
  s.base(0, 1, {0, 1, 2}).base(0, 1, {0, 0, 1}, 3, 3);
  s.log(0, 6, {{1, 10}, {0, 10}}, 3);
  const auto r = read(s.bytes());
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(calls_of(*r), (Calls{0, 1, 2, 1, 1, 0, 0, 1}));
  EXPECT_EQ(r->record.signatures.size(), 3u);
  EXPECT_EQ(r->record.durations[0].count, 1u);
  EXPECT_EQ(r->record.durations[1].count, 1u);
  SpoolBytes beyond = rank_of(0, 1);
  beyond.location(0, {});
  beyond.base(0, 1, {0, 1, 2}).log(0, 3, {{0, 10}}, 3);
  const auto damaged = read(beyond.bytes());
  ASSERT_TRUE(damaged.ok());
  EXPECT_EQ(calls_of(*damaged), (Calls{0, 1, 2}));
  EXPECT_FALSE(damaged->damage.empty());
}

// What statistics say, as a finished part or as what may still be replaced.
void put_stats(SpoolBytes& s, bool is_part, uint64_t begin, uint64_t end, uint64_t first_calls,
               uint64_t first, uint64_t ns) {
  DurationStats one;
  one.count = 1;
  one.min_ns = one.max_ns = ns;
  one.sum_ns = static_cast<double>(ns);
  base::ByteWriter out;
  for (const uint64_t v : {end, begin, uint64_t{0}, uint64_t{0}, uint64_t{0}}) out.put_varint(v);
  for (const uint64_t from : {first_calls, first}) {
    out.put_varint(from);
    out.put_varint(1);
    put(out, one);
  }
  out.put_varint(0), out.put_varint(0);  // no gaps
  s.chunk(ChunkType::kStats, 0, 1, is_part ? 1 : 0, out.view());
}

TEST(SpoolRead, StatisticsOfPartsCountOnce) {
  SpoolBytes s = rank_of(0, 1);
  s.location(0, {});
  s.base(0, 1, {0, 1, 2}).base(0, 1, {0, 1}, 3);
  put_stats(s, true, 0, 3, 0, 1, 10);
  put_stats(s, false, 0, 2, 0, 1, 1000);  // became the part
  auto r = read(s.bytes());
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(r->record.durations[0].sum_ns, 10);
  EXPECT_EQ(r->record.durations[1].sum_ns, 10);
  SpoolBytes more = rank_of(0, 1);
  more.location(0, {});
  more.base(0, 1, {0, 1, 2}).base(0, 1, {0, 1}, 3);
  put_stats(more, true, 0, 3, 0, 1, 10);
  put_stats(more, false, 3, 5, 0, 1, 100);  // its first calls are in the part
  r = read(more.bytes());
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(r->record.durations[0].sum_ns, 10);
  EXPECT_EQ(r->record.durations[1].sum_ns, 110);
}

TEST(SpoolRead, DamagedBaseFallsBack) {
  SpoolBytes s = rank_of(0, 1);
  s.location(0, {});
  s.base(0, 4, {0, 1, 2, 1}).base(0, 5, {0, 1, 2, 1, 2, 1});
  s.log(0, 6, {{0, 1}});
  std::string bytes = s.bytes();
  bytes[4096 * 4 + sizeof(Chunk)] ^= 1;  // header, tables, location, base, base
  const auto r = read(bytes);
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(calls_of(*r), (Calls{0, 1, 2, 1}));
  EXPECT_FALSE(r->damage.empty());
}

TEST(SpoolRead, WhatFollowsDamageIsLeftOut) {
  const auto calls = [](const std::string& bytes) {
    const auto r = read(bytes);
    EXPECT_TRUE(r.ok());
    EXPECT_FALSE(r->damage.empty());
    return r->record.threads.empty() ? Calls() : calls_of(*r);
  };
  SpoolBytes s = rank_of(0, 1);
  s.location(0, {});
  s.log(0, 0, {{0, 1}, {1, 1}, {2, 1}});
  std::string bytes = s.bytes();
  bytes[4096 + sizeof(Chunk) + 2 * 16 + sizeof(Record)] ^= 1;  // the third signature's record
  EXPECT_EQ(calls(bytes), (Calls{0, 1}));
  SpoolBytes gap = rank_of(0, 1);
  gap.location(0, {});
  gap.log(0, 0, {{0, 1}, {1, 1}}).log(0, 3, {{1, 1}});
  EXPECT_EQ(calls(gap.bytes()), (Calls{0, 1}));
  bytes = gap.bytes();
  bytes[4096 * 2] ^= 1;  // the location: nothing of its calls is known, the tables are
  EXPECT_EQ(calls(bytes), Calls());
}

TEST(SpoolRead, NotASpoolFile) {
  EXPECT_FALSE(read("").ok());
  EXPECT_FALSE(read(std::string(8192, '\0')).ok());
  SpoolBytes outside = rank_of(5, 5);
  EXPECT_FALSE(read(outside.bytes()).ok());
  std::string bytes = rank_of(0, 1).bytes();
  bytes[8] ^= 1;  // the version
  EXPECT_EQ(read(bytes).error().code, base::ErrorCode::kUnsupported);
}

TEST(PostMortem, TellsWhoDiedAndWhoIsMissing) {
  PostMortem dead;
  const LocationState waiting{mpi::kMPI_Barrier, 0, 400}, computing{0, 0, 300};
  for (const uint64_t rank : {0u, 1u, 3u}) {
    SpoolBytes s = rank_of(rank, 5);
    s.location(0, rank == 1 ? computing : waiting);
    s.log(0, 0, {{0, 1}, {1, 1}});
    if (rank == 3) s.header().state = State::kStopped;
    ASSERT_TRUE(dead.add(*read(s.bytes())).ok());
  }
  dead.add_missing(4, "its file is gone");
  const auto trace = dead.finish();
  ASSERT_TRUE(trace.ok()) << trace.error().to_string();
  EXPECT_FALSE(trace->meta.complete);
  EXPECT_FALSE(dead.whole());
  EXPECT_EQ(dead.ranks_found(), 3u);
  std::map<std::string, int64_t> losses;
  std::vector<int64_t> missing;
  for (const LossRecord& l : trace->losses) {
    if (l.reason == "rank_missing") missing.push_back(l.rank);
    losses[l.reason] = l.rank;
  }
  EXPECT_EQ(losses["died_first"], 1);
  EXPECT_EQ(losses["call_open"], -1);
  EXPECT_EQ(losses["spool_stopped"], 3);
  EXPECT_EQ(missing, (std::vector<int64_t>{4, 2}));
  EXPECT_TRUE(check_content(*trace).empty());
  EXPECT_TRUE(encode(*trace).ok());
}

TEST(PostMortem, SaysWhatStoppedASpool) {
  const std::pair<int32_t, const char*> causes[] = {
      {28, "its spool could not grow (errno 28)"},
      {ECANCELED, "a signal handler jumped out of the recorder"}};
  for (const auto& [error, what] : causes) {
    PostMortem dead;
    SpoolBytes s = rank_of(0, 1);
    s.header().state = State::kStopped;
    s.header().error = error;
    ASSERT_TRUE(dead.add(*read(s.bytes())).ok());
    const auto trace = dead.finish();
    ASSERT_TRUE(trace.ok());
    std::string detail;
    for (const LossRecord& l : trace->losses)
      if (l.reason == "spool_stopped") detail = l.detail;
    EXPECT_EQ(detail, std::string(what) + ": later calls are not here");
  }
}

// What the rules of the format ask of definitions: what they refer to, too.
TEST(PostMortem, RefusesDefinitionsOfTheWrongKind) {
  PostMortem dead;
  SpoolBytes s(0, 1);
  base::ByteWriter site;
  site.put_zigzag(16);
  // A site in a site.
  s.definitions({{DefinitionKind::kSite, std::string(site.view()), {}},
                 {DefinitionKind::kSite, std::string(site.view()), {0}}});
  EXPECT_FALSE(dead.add(*read(s.bytes())).ok());
}

// One that opens, because the sum of all calls fits.
TEST(PostMortem, RefusesMoreCallsThanThereCanBe) {
  PostMortem dead;
  for (uint64_t rank = 0; rank < 2; ++rank) {
    RankSpool r = *read(rank_of(rank, 2).bytes());
    r.threads.push_back({0, uint64_t{1} << 62, 0, 0, 0});
    EXPECT_EQ(dead.add(std::move(r)).ok(), rank == 0);
  }
}

TEST(PostMortem, RefusesStrangers) {
  PostMortem dead;
  SpoolBytes one = rank_of(1, 4), same = rank_of(1, 4), other = rank_of(2, 5);
  EXPECT_TRUE(dead.add(*read(one.bytes())).ok());
  EXPECT_FALSE(dead.add(*read(same.bytes())).ok());
  EXPECT_FALSE(dead.add(*read(other.bytes())).ok());
  EXPECT_FALSE(PostMortem().finish().ok());
}

// Any damage gives a record or an error, and a record that passes into a trace makes a valid one.
TEST(SpoolRead, SurvivesAnyDamage) {
  const RankRecord halo = testing::halo_2d(0, 2, 2, false, 4);
  SpoolBytes s(0, 4);
  s.definitions(halo.definitions);
  for (size_t i = 0; i < halo.signatures.size(); ++i) s.signature(halo.signatures[i]);
  Calls calls;
  for (grammar::TerminalCursor c(halo.threads[0].grammar); !c.at_end();) calls.push_back(c.next());
  s.location(0, {mpi::kMPI_Wait, 0, 400});
  s.base(0, 1, Calls(calls.begin(), calls.begin() + 20));
  s.stats(1, 20, {halo.durations.begin(), halo.durations.end()});
  std::vector<std::pair<uint32_t, uint64_t>> log;
  for (size_t i = 20; i < calls.size(); ++i) log.emplace_back(calls[i], i);
  s.log(0, 20, log);
  const std::string good = s.bytes();
  const auto whole = read(good);
  ASSERT_TRUE(whole.ok());
  EXPECT_TRUE(whole->damage.empty());
  EXPECT_EQ(calls_of(*whole), calls);

  std::mt19937 random(7);
  int traces = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string bytes = good;
    for (uint32_t n = 1 + random() % 4; n > 0; --n) {
      // Mostly where there is something.
      const size_t page = random() % (bytes.size() / kPageBytes);
      const size_t at = page * kPageBytes + random() % (random() % 2 == 0 ? 64 : 1024);
      bytes[at] = static_cast<char>(random() % 3 == 0 ? 0xff : random());
    }
    if (random() % 8 == 0) bytes.resize(random() % bytes.size());
    if (random() % 4 != 0 && bytes.size() >= kPageBytes) SpoolBytes::reseal(bytes);
    auto r = read(bytes);
    PostMortem dead;
    if (!r.ok() || r->header.world_size > 1000 || !dead.add(std::move(*r)).ok()) continue;
    const auto trace = dead.finish();
    if (!trace.ok()) continue;
    const auto findings = check_content(*trace);
    EXPECT_TRUE(findings.empty()) << round << ": " << findings[0].to_string();
    ++traces;
  }
  EXPECT_GT(traces, 1000);
}

}  // namespace
}  // namespace refrain::format::spool
