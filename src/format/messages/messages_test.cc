// Message logs: what was written is read again, at any size of records and blocks; a log that ends
// anywhere gives the records before that; no bytes crash the reader. The example of docs/format.md
// is what the writer makes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>

#include "format/messages/testing/entries.h"

namespace refrain::format::messages {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

TEST(MessageLog, RoundTrip) {
  for (uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    const auto entries = random_log(seed, seed < 2 ? seed : 400);
    StringSink sink;
    LogWriter log(sink);
    ASSERT_TRUE(log.start(header()));
    size_t i = 0;
    for (const Entry& e : entries) {
      write(log, e);
      if (++i % 97 == 0) log.flush();
    }
    const Sums sums{7, 600, 500, 400, 1};
    log.end(EndReason::kFinished, sums);
    EXPECT_EQ(log.file_bytes(), sink.bytes.size());

    auto opened = LogReader::open(memory_source(sink.bytes), "log");
    ASSERT_TRUE(opened.ok()) << opened.error().to_string();
    EXPECT_EQ(opened->header(), header());
    bool complete = false;
    std::string error;
    const auto again = read_all(sink.bytes, &complete, &error);
    EXPECT_EQ(error, "");
    EXPECT_TRUE(complete);
    ASSERT_EQ(again.size(), entries.size() + 1);
    for (size_t k = 0; k < entries.size(); ++k) {
      expect_same(entries[k], again[k]);
      if (HasFatalFailure()) return;
    }
    EXPECT_EQ(again.back().record.sums, sums);
  }
}

// put_flat() makes the bytes of contents() and put(), and next_short() gives what next() gives.
TEST(MessageLog, ShortWays) {
  std::mt19937 random(7);
  StringSink long_sink, short_sink;
  LogWriter long_log(long_sink), short_log(short_sink);
  ASSERT_TRUE(long_log.start(header()));
  ASSERT_TRUE(short_log.start(header()));
  std::string bytes(40000, 'a');
  for (char& c : bytes) c = static_cast<char>(random());
  uint64_t number = 0;
  size_t flat = 0;
  constexpr size_t kRecords = 3000;
  for (size_t i = 0; i < kRecords; ++i) {
    number += random() % 3 == 0 ? random() % 40 : random() % 2;
    const uint64_t where = random() % 4 == 0 ? random() % 300 : 0;
    const size_t n = random() % 5 == 0 ? random() % bytes.size() : random() % 200;
    const auto piece = std::as_bytes(std::span(bytes)).first(n);
    long_log.contents(0, number, where, n);
    long_log.put(piece);
    if (short_log.put_flat(0, number, where, piece)) {
      ++flat;
      continue;
    }
    short_log.contents(0, number, where, n);
    short_log.put(piece);
  }
  long_log.end(EndReason::kFinished, {});
  short_log.end(EndReason::kFinished, {});
  EXPECT_GT(flat, kRecords / 2);
  EXPECT_EQ(long_sink.bytes, short_sink.bytes);

  auto by_next = LogReader::open(memory_source(long_sink.bytes), "log");
  auto by_short = LogReader::open(memory_source(long_sink.bytes), "log");
  ASSERT_TRUE(by_next.ok() && by_short.ok());
  size_t quick = 0;
  for (size_t i = 0; i <= kRecords; ++i) {
    Record a, b;
    const auto more = by_next->next(a);
    ASSERT_TRUE(more.ok() && *more);
    if (by_short->next_short(b)) {
      ++quick;
    } else {
      ASSERT_TRUE(by_short->next(b).ok());
    }
    ASSERT_EQ(a.kind, b.kind);
    ASSERT_EQ(a.number, b.number);
    ASSERT_EQ(a.where, b.where);
    ASSERT_EQ(a.bytes, b.bytes);
    std::vector<std::byte> x(a.bytes), y(a.bytes);
    ASSERT_EQ(*by_next->take(x), x.size());
    ASSERT_EQ(*by_short->take(y), y.size());
    ASSERT_EQ(x, y);
  }
  EXPECT_GT(quick, kRecords / 2);
}

// Long blocks of a mapped file are looked at where they are: the records are the same, as is what a
// file that is cut gives.
TEST(MessageLog, MappedFilesAreRead) {
  std::mt19937 random(11);
  StringSink sink;
  LogWriter log(sink);
  ASSERT_TRUE(log.start(header()));
  std::string bytes(900000, ' ');
  for (char& c : bytes) c = static_cast<char>(random());
  uint64_t number = 0;
  for (int i = 0; i < 150; ++i) {  // several windows
    const size_t n = i % 3 == 0 ? random() % bytes.size() : random() % 200;
    log.contents(0, ++number, 0, n);
    log.put(std::as_bytes(std::span(bytes)).first(n));
    if (i % 7 == 0) log.flush();  // short blocks
  }
  log.end(EndReason::kFinished, {});
  const std::string path = ::testing::TempDir() + "refrain_mapped.rfm";
  for (const size_t cut : {size_t{0}, sink.bytes.size() / 3}) {
    const std::string kept = sink.bytes.substr(0, sink.bytes.size() - cut);
    std::ofstream(path, std::ios::binary) << kept;
    auto mapped = LogReader::open_file(path, LogAccess::kMapped);
    auto plain = LogReader::open(memory_source(kept), "log");
    ASSERT_TRUE(mapped.ok() && plain.ok());
    bool goes_on = true;
    while (goes_on) {
      Record a, b;
      if (!mapped->next_short(a)) goes_on = *mapped->next(a);
      ASSERT_EQ(*plain->next(b), goes_on);
      if (!goes_on) break;
      ASSERT_EQ(a.kind, b.kind);
      ASSERT_EQ(a.bytes, b.bytes);
      std::vector<std::byte> x(a.bytes), y(a.bytes);
      const size_t taken = mapped->take_whole(x.data()) ? x.size() : *mapped->take(x);
      ASSERT_EQ(taken, *plain->take(y));
      ASSERT_EQ(x, y);
    }
    EXPECT_EQ(mapped->is_complete(), cut == 0);
    EXPECT_EQ(plain->is_complete(), cut == 0);
  }
  std::remove(path.c_str());
}

// Bytes that nobody takes are skipped, and a part of them can be taken.
TEST(MessageLog, SkipsWhatIsNotTaken) {
  StringSink sink;
  LogWriter log(sink);
  ASSERT_TRUE(log.start(header()));
  const std::string large(5 << 20, 'x');
  log.contents(0, 1, 0, large.size());
  log.put(bytes_of(large));
  log.contents(0, 2, 1, 3);
  log.put(bytes_of("abc"));
  log.flush();
  auto read = LogReader::open(memory_source(sink.bytes), "log");
  ASSERT_TRUE(read.ok());
  Record r;
  ASSERT_TRUE(*read->next(r));
  std::byte some[10];
  ASSERT_EQ(*read->take(some), sizeof some);
  EXPECT_EQ(some[9], std::byte{'x'});
  EXPECT_EQ(read->left(), large.size() - sizeof some);
  ASSERT_TRUE(*read->next(r));
  EXPECT_EQ(r.number, 2u);
  ASSERT_EQ(*read->take(some), 3u);
  EXPECT_EQ(std::memcmp(some, "abc", 3), 0);
  EXPECT_FALSE(*read->next(r));
  EXPECT_FALSE(read->is_complete());
}

// A process that is killed leaves the blocks that it has written; the records in them are read.
TEST(MessageLog, CutAnywhere) {
  const auto entries = random_log(77, 300);
  StringSink sink;
  LogWriter log(sink);
  ASSERT_TRUE(log.start(header()));
  for (const Entry& e : entries) write(log, e);
  log.flush();
  const std::string file = sink.bytes;
  std::mt19937_64 random(1);
  size_t best = 0;
  for (int i = 0; i < 120; ++i) {
    const size_t length = i < 60 ? static_cast<size_t>(i) : random() % file.size();
    bool complete = true;
    std::string error;
    const auto again = read_all(std::string_view(file).substr(0, length), &complete, &error);
    if (length >= 128) {
      EXPECT_EQ(error, "") << length;
      EXPECT_FALSE(complete);
    }
    ASSERT_LE(again.size(), entries.size());
    for (size_t k = 0; k < again.size(); ++k) expect_same(entries[k], again[k]);
    best = std::max(best, again.size());
  }
  EXPECT_GT(best, 100u);
}

TEST(MessageLog, DamageIsFoundAndNamed) {
  const auto entries = random_log(5, 200);
  StringSink sink;
  LogWriter log(sink);
  ASSERT_TRUE(log.start(header()));
  for (const Entry& e : entries) write(log, e);
  write(log, end_of({}));
  std::mt19937_64 random(2);
  for (int i = 0; i < 200; ++i) {
    std::string file = sink.bytes;
    const size_t at = i < 80 ? static_cast<size_t>(i) : random() % file.size();
    file[at] = static_cast<char>(file[at] ^ (1 << random() % 8));
    std::string error;
    bool complete = true;
    const auto again = read_all(file, &complete, &error);
    // A bit of a length may make the last block end behind the file: it is as if cut. A minor
    // version is not looked at, but the checksum covers it.
    EXPECT_TRUE(!error.empty() || !complete) << at;
    for (size_t k = 0; k < again.size() && k < entries.size(); ++k)
      expect_same(entries[k], again[k]);
    if (at > 200 && !error.empty()) {
      EXPECT_NE(error.find("offset"), std::string::npos) << error;
    }
  }
}

// Records are short: an empty message costs nothing beyond what 16 bytes a receive allow.
TEST(MessageLog, StaysBelowSixteenBytesAReceive) {
  std::mt19937_64 random(9);
  for (const size_t bytes : {size_t{1}, size_t{100}, size_t{70000}, size_t{1} << 20}) {
    StringSink sink;
    LogWriter log(sink);
    ASSERT_TRUE(log.start(header()));
    uint64_t number = 0, receives = 0, received = 0;
    for (; received < (40u << 20) && receives < 100000; ++receives) {
      std::string data(bytes, '\0');
      for (char& c : data) c = static_cast<char>(random());
      number += random() % 30;
      log.contents(0, number, random() % 8, bytes);
      log.put(bytes_of(data));
      received += bytes;  // a status that says the same has no record
    }
    write(log, end_of({}));
    EXPECT_LE(sink.bytes.size(), received + 16 * receives) << bytes;
  }
}

TEST(MessageLog, CompressesWhereThatPays) {
  StringSink sink;
  LogWriter log(sink);
  ASSERT_TRUE(log.start(header()));
  const std::string zeros(3 << 20, '\0');
  log.contents(0, 0, 0, zeros.size());
  log.put(bytes_of(zeros));
  write(log, end_of({}));
  EXPECT_LT(sink.bytes.size(), 2000u);
  EXPECT_EQ(read_all(sink.bytes).at(0).bytes, zeros);
}

TEST(MessageLog, EndsAtTheLimitAndAtAFullDisk) {
  for (const bool full_disk : {false, true}) {
    constexpr size_t kRoom = 3500000;
    StringSink sink(full_disk ? kRoom : SIZE_MAX);
    LogWriter log(sink, full_disk ? 0 : kRoom);
    ASSERT_TRUE(log.start(header()));
    std::mt19937_64 random(4);
    std::string data(200000, '\0');
    for (char& c : data) c = static_cast<char>(random());
    Sums sums;
    uint64_t call = 0;
    for (; call < 40; ++call) {
      log.contents(0, call, 0, data.size());
      log.put(bytes_of(data));
      (log.stopped() ? sums.unlogged : sums.receives) += 1;
    }
    EXPECT_TRUE(log.stopped());
    log.end(EndReason::kFinished, sums);
    EXPECT_LE(sink.bytes.size(), kRoom);
    if (!full_disk) {
      EXPECT_GT(sink.bytes.size(), kRoom - 1000);
    }
    bool complete = false;
    std::string error;
    const auto again = read_all(sink.bytes, &complete, &error);
    EXPECT_EQ(error, "");
    EXPECT_TRUE(complete);
    ASSERT_GT(again.size(), 10u);
    const Record& last = again.back().record;
    EXPECT_EQ(last.end, full_disk ? EndReason::kDisk : EndReason::kLimit);
    EXPECT_EQ(last.error_number, full_disk ? ENOSPC : 0);
    EXPECT_GT(last.sums.unlogged, 10u);
    for (size_t k = 0; k + 1 < again.size(); ++k) EXPECT_TRUE(again[k].bytes == data);
  }
}

TEST(MessageLog, NoDiskAtAll) {
  StringSink sink(10);
  LogWriter log(sink);
  EXPECT_FALSE(log.start(header()));
  log.contents(0, 1, 0, 5);
  log.put(bytes_of("hello"));
  log.end(EndReason::kFinished, {});
  EXPECT_EQ(sink.bytes, "");
  EXPECT_EQ(log.error_number(), ENOSPC);
}

TEST(MessageLog, OtherFilesAreRefused) {
  std::string error;
  for (const char* text :
       {"", "hello", "\x89RFN\r\n\x1a\n aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}) {
    error.clear();
    EXPECT_TRUE(read_all(text, nullptr, &error).empty());
    EXPECT_NE(error.find("no message log"), std::string::npos) << error;
  }
  StringSink sink;
  LogWriter log(sink);
  ASSERT_TRUE(log.start(header()));
  std::string newer = sink.bytes;
  newer[8] = 2;
  const auto opened = LogReader::open(memory_source(newer), "log");
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code, ErrorCode::kUnsupported);
}

// What logs of version 1.0 have: two lengths in front of every block. It is the example of that
// version.
TEST(MessageLog, ReadsTheVersionBefore) {
  constexpr unsigned char kOld[] = {
      0x89, 0x52, 0x46, 0x4d, 0x0d, 0x0a, 0x1a, 0x0a, 0x01, 0x00, 0x00, 0x00, 0x34, 0x00, 0x00,
      0x00, 0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01, 0x01, 0x00, 0x00, 0x00, 0x02, 0x00,
      0x00, 0x00, 0x02, 0x2a, 0x2b, 0x0b, 0x6d, 0x70, 0x69, 0x63, 0x68, 0x20, 0x34, 0x2e, 0x30,
      0x2e, 0x32, 0x00, 0x82, 0x48, 0xc5, 0xcf, 0x14, 0x00, 0x00, 0x80, 0x14, 0x00, 0x00, 0x00,
      0x2f, 0x3e, 0x15, 0x51, 0x42, 0x00, 0x03, 0x61, 0x62, 0x63, 0x06, 0x00, 0x00, 0x03, 0x17,
      0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0xf8, 0x7f, 0x08, 0x00, 0x00, 0x80, 0x08, 0x00,
      0x00, 0x00, 0x0b, 0xef, 0xbb, 0xa5, 0x0b, 0x01, 0x00, 0x01, 0x03, 0x03, 0x03, 0x00};
  std::string file(reinterpret_cast<const char*>(kOld), sizeof kOld);
  bool complete = false;
  std::string error;
  const auto entries = read_all(file, &complete, &error);
  EXPECT_EQ(error, "");
  EXPECT_TRUE(complete);
  ASSERT_EQ(entries.size(), 4u);
  EXPECT_EQ(entries[0].bytes, "abc");
  EXPECT_EQ(entries[2].record.wtime, 1.5);
  // There the bit of blocks without a second length is none.
  file[55] = static_cast<char>(0xc0);
  EXPECT_TRUE(read_all(file, &complete, &error).empty());
  EXPECT_NE(error.find("lengths beyond their limits"), std::string::npos) << error;
}

// A feature that a reader does not know is refused, whatever the minor version.
TEST(MessageLog, UnknownFeaturesAreRefused) {
  StringSink sink;
  LogWriter log(sink);
  ASSERT_TRUE(log.start(header()));
  sink.bytes[10] = static_cast<char>(sink.bytes[10] | 4);
  const auto opened = LogReader::open(memory_source(sink.bytes), "log");
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code, ErrorCode::kUnsupported);
}

// The example of docs/format.md: rank 1 of 2 receives "abc" in its fifth call and asks for the
// time.
TEST(MessageLog, DocumentHasTheExample) {
  StringSink sink;
  LogWriter log(sink);
  Header h;
  h.run = 0x0123456789abcdef;
  h.rank = 1;
  h.ranks = 2;
  h.build_id = "\x2a\x2b";
  h.mpi = "mpich 4.0.2";
  ASSERT_TRUE(log.start(h));
  log.contents(0, 4, 0, 3);
  log.put(bytes_of("abc"));
  log.wtime(0, 5, 1.5);
  log.end(EndReason::kFinished, {1, 3, 3, 3, 0});
  std::ostringstream hex;
  for (size_t i = 0; i < sink.bytes.size(); ++i) {
    char two[4];
    std::snprintf(two, sizeof two, "%02x", static_cast<unsigned char>(sink.bytes[i]));
    hex << two << (i % 24 == 23 || i + 1 == sink.bytes.size() ? "\n" : " ");
  }
  std::ifstream in(REFRAIN_DOCS_DIR "/format.md");
  std::stringstream text;
  text << in.rdbuf();
  EXPECT_NE(text.str().find(hex.str()), std::string::npos) << hex.str();
}

}  // namespace
}  // namespace refrain::format::messages
