// Times of single calls: through the file, by blocks, on one clock.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "format/codes/checksum.h"
#include "format/decode/decode.h"
#include "format/encode/encode.h"
#include "format/encode/trace_file_writer.h"
#include "format/time/segment_encoder.h"
#include "format/time/spec.h"
#include "reader/internal.h"
#include "reader/test_trace.h"
#include "reader/trace_impl.h"
#include "reader/verify/verify_times.h"
#include "refrain/calls.h"

namespace refrain {
namespace {

using Pairs = std::vector<std::pair<uint64_t, uint64_t>>;

// Two ranks that make 3 calls in turn, `rounds` times.
reader::TraceBuilder loop(int rounds) {
  reader::TraceBuilder b(2);
  const uint32_t world = b.world();
  std::vector<uint32_t> calls, all;
  for (const char* name : {"MPI_Barrier", "MPI_Comm_free", "MPI_Win_free"}) {
    reader::ShapeWriter shape(name);
    calls.push_back(b.signature(shape.none().object(world)));
  }
  for (int i = 0; i < rounds; ++i) all.insert(all.end(), calls.begin(), calls.end());
  b.group({0, 1}, all);
  return b;
}

Pairs steps(size_t calls, uint64_t begin, uint64_t gap, uint64_t length) {
  Pairs times;
  for (size_t i = 0; i < calls; ++i, begin += gap + length)
    times.emplace_back(begin + gap, begin + gap + length);
  return times;
}

Pairs times_of(RankReader& rank) {
  Pairs times;
  Result<Cursor> cursor = rank.cursor(0);
  EXPECT_TRUE(cursor.ok());
  while (const Call* call = cursor.ok() ? cursor->next() : nullptr) {
    EXPECT_TRUE(call->has_time) << call->seq;
    times.emplace_back(call->begin_ns, call->end_ns);
  }
  return times;
}

TEST(Times, OfATraceInMemory) {
  reader::TraceBuilder b = loop(50);
  const Pairs first = steps(150, 0, 10, 100), second = steps(150, 5, 12, 90);
  b.times(0, first, "exact", 40);
  b.times(1, second);
  const Trace trace = b.open();
  ASSERT_TRUE(trace.has_times());
  EXPECT_EQ(reader::time_spec_of(trace)->to_string(), "exact");
  RankReader zero(trace, 0, Times::kRead), one(trace, 1, Times::kRead);
  EXPECT_EQ(times_of(zero), first);
  EXPECT_EQ(times_of(one), second);
  EXPECT_TRUE(reader::verify_times(trace, 10).empty());
}

TEST(Times, CostNothingUnlessAskedFor) {
  reader::TraceBuilder b = loop(50);
  b.times(0, steps(150, 0, 10, 100));
  b.times(1, steps(150, 0, 10, 100));
  const std::string path = testing::TempDir() + "/times_unread.rfn";
  ASSERT_TRUE(format::write_file_atomically(path, format::encode(b.data()).value()).ok());
  // Damaged times do not matter to who does not read them.
  const auto size = std::filesystem::file_size(path);
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(size - 60));
  file.write("damaged damaged damaged damaged damaged damaged damaged", 55);
  file.close();
  const Result<Trace> trace = Trace::open(path);
  ASSERT_TRUE(trace.ok()) << trace.error().to_string();
  EXPECT_EQ(trace->call_count(), 300u);
  RankReader plain(*trace, 0);
  ASSERT_TRUE(plain.for_each_call(0, [](const Call& c) { return !c.has_time; }).ok());
  EXPECT_FALSE(reader::time_spec_of(*trace).ok());
  RankReader timed(*trace, 0, Times::kRead);
  EXPECT_FALSE(timed.cursor(0).ok());
  EXPECT_FALSE(format::check(format::read_file(path).value()).empty());
  std::filesystem::remove(path);
}

// Whichever byte of the section is damaged, in whichever part: blocks, index, the index's length.
TEST(Times, EveryFlippedByteIsFoundAtItsPlace) {
  reader::TraceBuilder b = loop(30);
  b.times(0, steps(90, 0, 10, 100), "exact", 40);
  b.times(1, steps(90, 5, 12, 90), "exact", 40);
  const std::string good = format::encode(b.data()).value(), name = "times_flipped.rfn";
  const std::string path = testing::TempDir() + "/" + name;
  ASSERT_TRUE(format::write_file_atomically(path, good).ok());
  const Result<Trace> undamaged = Trace::open_with_times(path);
  ASSERT_TRUE(undamaged.ok()) << undamaged.error().to_string();
  const uint64_t begin = good.size() - undamaged->time_size()->bytes;
  uint64_t block_end = begin;  // of the first one
  block_end += b.data().times.index.chunks[0].blocks[0].bytes;
  for (uint64_t at = begin; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ (1 << at % 8));
    ASSERT_TRUE(format::write_file_atomically(path, bad).ok());
    const Result<Trace> trace = Trace::open_with_times(path);
    ASSERT_FALSE(trace.ok()) << at;
    const std::string expected = name + ", byte " + (at < block_end ? std::to_string(begin) : "");
    EXPECT_NE(trace.error().place.find(expected), std::string::npos) << trace.error().to_string();
    if (at >= block_end) continue;
    // Who reads a rank alone is told, too, once it has been there.
    const Result<Trace> opened = Trace::open(path);
    ASSERT_TRUE(opened.ok());
    RankReader zero(*opened, 0, Times::kRead), one(*opened, 1, Times::kRead);
    const Status of_zero = zero.for_each_call(0, [](const Call&) { return true; });
    ASSERT_FALSE(of_zero.ok()) << at;
    EXPECT_NE(of_zero.error().place.find(expected), std::string::npos);
    EXPECT_TRUE(one.for_each_call(0, [](const Call&) { return true; }).ok());
  }
  std::filesystem::remove(path);
}

TEST(Times, AWindowReadsItsBlocksOnly) {
  reader::TraceBuilder b = loop(1000);
  b.times(0, steps(3000, 0, 10, 90), "exact", 100);
  b.times(1, steps(3000, 0, 10, 90), "exact", 100);
  const std::string path = testing::TempDir() + "/times_window.rfn";
  ASSERT_TRUE(format::write_file_atomically(path, format::encode(b.data()).value()).ok());
  const Result<Trace> trace = Trace::open(path);
  ASSERT_TRUE(trace.ok()) << trace.error().to_string();
  RankReader rank(*trace, 1, Times::kRead);
  Result<Cursor> cursor = rank.cursor(0);
  ASSERT_TRUE(cursor.ok());
  const reader::TimeStore& store = *reader::times_of(*trace);
  const uint64_t before = store.reads();
  EXPECT_LE(before, 2u);  // the index
  ASSERT_TRUE(cursor->seek_time(123'400));
  const Call* call = cursor->next();
  ASSERT_NE(call, nullptr);
  EXPECT_EQ(call->seq, 1233u);
  EXPECT_EQ(call->end_ns, 123'400u);
  EXPECT_EQ(store.reads(), before + 1);
  cursor->seek(1250);
  EXPECT_EQ(cursor->next()->begin_ns, 125'010u);
  EXPECT_EQ(store.reads(), before + 1);
  cursor->seek(7);
  EXPECT_EQ(cursor->next()->begin_ns, 710u);
  EXPECT_EQ(store.reads(), before + 2);
  ASSERT_TRUE(cursor->seek_time(UINT64_MAX));
  EXPECT_EQ(cursor->next(), nullptr);
  ASSERT_TRUE(cursor->seek_time(0));
  EXPECT_EQ(cursor->next()->seq, 0u);
  std::filesystem::remove(path);
}

TEST(Times, AreOnTheCommonClock) {
  reader::TraceBuilder b = loop(1);
  b.times(0, {{0, 10}, {1000, 2000}, {3000, 4000}});
  b.times(1, {{0, 10}, {1000, 2000}, {3000, 4000}});
  b.clock(0, {});
  // Began 500 ns before rank 0, and is a thousandth slow.
  b.clock(1, {{0, -500}, {1'000'000, 1'000'500}});
  const Trace trace = b.open();
  RankReader zero(trace, 0, Times::kRead), one(trace, 1, Times::kRead);
  EXPECT_EQ(times_of(zero), (Pairs{{500, 510}, {1500, 2500}, {3500, 4500}}));
  EXPECT_EQ(times_of(one), (Pairs{{0, 10}, {1001, 2002}, {3003, 4004}}));
}

TEST(Times, WrittenPieceByPiece) {
  reader::TraceBuilder b = loop(400), whole = loop(400);
  const Pairs first = steps(1200, 3, 10, 90), second = steps(1200, 8, 20, 70);
  const format::TimeSpec spec = format::TimeSpec::parse("exact").value();
  const std::string path = testing::TempDir() + "/times_pieces.rfn";
  auto writer = format::TraceFileWriter::create(path, b.data(), spec, {});
  ASSERT_TRUE(writer.ok()) << writer.error().to_string();
  for (const uint64_t rank : {1, 0}) {
    const auto made = format::make_times(b.data(), spec, rank, 0, rank == 0 ? first : second, 500);
    ASSERT_TRUE(writer->append(made.chunk, made.bytes).ok());
    EXPECT_FALSE(std::filesystem::exists(path));
  }
  ASSERT_TRUE(writer->finish().ok());
  whole.times(1, second, "exact", 500);
  whole.times(0, first, "exact", 500);
  EXPECT_EQ(format::read_file(path).value(), format::encode(whole.data()).value());
  EXPECT_TRUE(format::check(format::read_file(path).value()).empty());
  const Result<Trace> trace = Trace::open(path);
  ASSERT_TRUE(trace.ok()) << trace.error().to_string();
  RankReader zero(*trace, 0, Times::kRead);
  EXPECT_EQ(times_of(zero), first);
  EXPECT_TRUE(reader::verify_times(*trace, 10).empty());
  std::filesystem::remove(path);
}

// Reduced times: the representatives come last.
TEST(Times, SegmentsWrittenPieceByPiece) {
  reader::TraceBuilder b = loop(400), whole = loop(400);
  const std::vector<format::Representative> representatives = {
      {0, format::kNoElastic, {10, 50, 60, 100, 110, 150}}};
  const std::string dictionary = format::encode_representatives(representatives).value();
  format::TimeSpec spec;
  spec.mode = format::TimeMode::kSegments;
  spec.method = "iter_k:1";
  format::TimeData& expected = whole.data().times;
  expected.index.spec = spec;
  format::SegmentInfo& info = expected.index.segments;
  info.segments = 800;
  info.contexts = {"main_loop_1_1"};
  info.representatives = 1;
  info.bytes = dictionary.size();
  info.checksum = format::checksum32(dictionary);
  const std::string path = testing::TempDir() + "/segments_pieces.rfn";
  auto writer = format::TraceFileWriter::create(path, b.data(), spec, {});
  ASSERT_TRUE(writer.ok()) << writer.error().to_string();
  for (const uint64_t rank : {1, 0}) {
    format::TimeChunk chunk{rank, 0, {}};
    std::string bytes;
    format::SegmentEncoder encoder(representatives);
    encoder.begin(7 * rank);
    for (uint64_t i = 0; i < 400; ++i) encoder.segment(0, 160 + rank, chunk, bytes);
    encoder.finish(chunk, bytes);
    ASSERT_TRUE(writer->append(chunk, bytes).ok());
    expected.bytes += bytes;
    expected.index.chunks.push_back(std::move(chunk));
  }
  expected.bytes += dictionary;
  ASSERT_TRUE(writer->append_representatives(info, dictionary).ok());
  ASSERT_TRUE(writer->finish().ok());
  EXPECT_EQ(format::read_file(path).value(), format::encode(whole.data()).value());
  EXPECT_TRUE(format::check(format::read_file(path).value()).empty());
  const Result<Trace> trace = Trace::open(path);
  ASSERT_TRUE(trace.ok()) << trace.error().to_string();
  Pairs first, second;
  for (uint64_t i = 0; i < 400; ++i)
    for (const uint64_t call : {0, 50, 100}) {
      first.emplace_back(160 * i + call + 10, 160 * i + call + 50);
      second.emplace_back(161 * i + call + 17, 161 * i + call + 57);
    }
  RankReader zero(*trace, 0, Times::kRead), one(*trace, 1, Times::kRead);
  EXPECT_EQ(times_of(zero), first);
  EXPECT_EQ(times_of(one), second);
  EXPECT_TRUE(reader::verify_times(*trace, 10).empty());
  // A bound of each call is not what they have.
  EXPECT_FALSE(reader::verify_bound(*trace, *trace, 10).ok());
  std::filesystem::remove(path);
}

TEST(Times, DamagedRepresentativesAreFoundWhenTimesAreRead) {
  reader::TraceBuilder b = loop(1);
  const std::vector<format::Representative> representatives = {
      {0, format::kNoElastic, {10, 50, 60, 100, 110, 150}}};
  format::TimeData& times = b.data().times;
  times.index.spec.mode = format::TimeMode::kSegments;
  times.index.segments.contexts = {"main_0"};
  times.index.segments.representatives = 1;
  for (const uint64_t rank : {0, 1}) {
    format::TimeChunk chunk{rank, 0, {}};
    format::SegmentEncoder encoder(representatives);
    encoder.segment(0, 150, chunk, times.bytes);
    encoder.finish(chunk, times.bytes);
    times.index.chunks.push_back(std::move(chunk));
  }
  const std::string dictionary = format::encode_representatives(representatives).value();
  times.index.segments.bytes = dictionary.size();
  times.index.segments.checksum = format::checksum32(dictionary);
  times.bytes += dictionary;
  EXPECT_TRUE(reader::verify_times(b.open(), 10).empty());
  EXPECT_TRUE(b.open().check_times().ok());
  times.bytes.back() ^= 1;
  const Trace trace = b.open();  // opening reads no times
  EXPECT_FALSE(trace.check_times().ok());
  EXPECT_FALSE(reader::verify_times(trace, 10).empty());
  RankReader rank(trace, 0, Times::kRead);
  EXPECT_FALSE(rank.cursor(0).ok());
}

TEST(Times, NoneAreNotAByte) {
  reader::TraceBuilder b = loop(4);
  const std::string path = testing::TempDir() + "/times_none.rfn";
  auto writer = format::TraceFileWriter::create(path, b.data(), {}, {});
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer->finish().ok());
  EXPECT_EQ(format::read_file(path).value(), format::encode(b.data()).value());
  EXPECT_FALSE(Trace::open(path)->has_times());
  std::filesystem::remove(path);
}

TEST(Times, UnfinishedWritingLeavesNothing) {
  reader::TraceBuilder b = loop(4);
  const std::filesystem::path folder = testing::TempDir() + "/times_unfinished";
  std::filesystem::create_directory(folder);
  {
    const format::TimeSpec spec = format::TimeSpec::parse("exact").value();
    auto writer = format::TraceFileWriter::create(folder / "a.rfn", b.data(), spec, {});
    ASSERT_TRUE(writer.ok());
    const auto made = format::make_times(b.data(), spec, 0, 0, steps(12, 0, 1, 1));
    ASSERT_TRUE(writer->append(made.chunk, made.bytes).ok());
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  std::filesystem::remove(folder);
}

TEST(Times, TheBoundIsChecked) {
  const Pairs good = steps(3000, 0, 130, 1700);
  const auto make = [&](const Pairs& times, const char* spec) {
    reader::TraceBuilder b = loop(1000);
    b.times(0, times, spec);
    b.times(1, times, spec);
    return b.open();
  };
  const Trace bins = make(good, "bins:0.02");
  const auto kept = reader::verify_bound(bins, make(good, "exact"), 10);
  ASSERT_TRUE(kept.ok()) << kept.error().to_string();
  EXPECT_TRUE(kept->findings.empty());
  EXPECT_EQ(kept->calls, 6000u);
  EXPECT_GT(kept->worst, 0.1);
  EXPECT_LE(kept->worst, 1.0);
  Pairs other = good;
  other[1500].second += 90;  // more than 2 % of 1700
  const auto broken = reader::verify_bound(bins, make(other, "exact"), 10);
  ASSERT_TRUE(broken.ok());
  EXPECT_FALSE(broken->findings.empty());
  EXPECT_FALSE(reader::verify_bound(bins, bins, 10).ok());
}

TEST(Times, OfTooFewOrTooManyCallsAreFound) {
  reader::TraceBuilder b = loop(10);
  b.times(0, steps(30, 0, 1, 1));
  b.times(1, steps(29, 0, 1, 1));
  EXPECT_EQ(reader::verify_times(b.open(), 10).size(), 1u);
  RankReader rank(b.open(), 1, Times::kRead);
  uint64_t timed = 0;
  ASSERT_TRUE(rank.for_each_call(0, [&](const Call& c) { return timed += c.has_time, true; }).ok());
  EXPECT_EQ(timed, 29u);
  b.data().losses.push_back({"times_missing", 1, 1, ""});
  b.data().meta.complete = false;
  EXPECT_TRUE(reader::verify_times(b.open(), 10).empty());
}

TEST(Times, DamagedBlocksAreFoundWhenTheyAreRead) {
  reader::TraceBuilder b = loop(100);
  b.times(0, steps(300, 0, 10, 90), "exact", 100);
  b.times(1, steps(300, 0, 10, 90), "exact", 100);
  b.data().times.bytes[b.data().times.index.chunks[0].blocks[0].bytes + 3] ^= 1;
  const Trace trace = b.open();
  EXPECT_EQ(reader::verify_times(trace, 10).size(), 1u);
  RankReader rank(trace, 0, Times::kRead);
  Result<Cursor> cursor = rank.cursor(0);
  ASSERT_TRUE(cursor.ok());
  EXPECT_TRUE(cursor->next()->has_time);
  EXPECT_TRUE(cursor->time_status().ok());
  cursor->seek(150);
  EXPECT_FALSE(cursor->next()->has_time);
  EXPECT_FALSE(cursor->time_status().ok());
  cursor->seek(250);
  EXPECT_TRUE(cursor->next()->has_time);
}

}  // namespace
}  // namespace refrain
