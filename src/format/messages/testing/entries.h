// What the tests of message logs share: a sink in memory, records with their bytes, logs of records
// as they come.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/messages/decode/log_reader.h"
#include "format/messages/encode/log_writer.h"

namespace refrain::format::messages::testing {

// Keeps the bytes; room for `room` of them, what is reserved included.
class StringSink : public LogSink {
 public:
  explicit StringSink(size_t room = SIZE_MAX) : room_(room) {}
  int write(std::span<const std::byte> more, size_t reserve) override {
    // What the call before reserved is there, whatever this one wants to reserve.
    const bool fits = bytes.size() + more.size() + reserve <= room_;
    if (!fits && more.size() > reserved_) return ENOSPC;
    bytes.append(reinterpret_cast<const char*>(more.data()), more.size());
    reserved_ = fits ? reserve : 0;
    return 0;
  }
  std::string bytes;

 private:
  size_t room_, reserved_ = 0;
};

// A record and its bytes, as the test remembers them.
struct Entry {
  Record record;
  std::string bytes;
};

inline Header header() {
  Header h;
  h.run = 0x1122334455667788;
  h.rank = 3;
  h.ranks = 16;
  h.build_id = std::string("\x01\xff\x00\x02", 4);
  h.mpi = "mpich 4.0.2";
  h.group = {{2, 2}, {8, 1}};
  return h;
}

inline std::span<const std::byte> bytes_of(std::string_view s) {
  return std::as_bytes(std::span(s));
}

inline void write(LogWriter& log, const Entry& e) {
  const Record& r = e.record;
  switch (r.kind) {
    case Kind::kTurn: log.turn(r.number, r.thread); break;
    case Kind::kContents: log.contents(r.thread, r.number, r.where, r.bytes); break;
    case Kind::kInside: log.inside(r.thread, r.number, r.where, r.bytes); break;
    case Kind::kPart:
      log.part(r.thread, r.number, r.where, r.partition, r.partitions, r.bytes);
      break;
    case Kind::kFetched:
      log.fetched(r.thread, r.number, r.post_thread, r.post_number, r.bytes);
      break;
    case Kind::kStatus: log.status(r.thread, r.number, r.where, r.status); break;
    case Kind::kWtime: log.wtime(r.thread, r.number, r.wtime); break;
    case Kind::kWindow:
      log.window(r.thread, r.number, r.window, r.region, r.offset, r.bytes);
      break;
    case Kind::kMissing: log.missing(r.thread, r.number, r.where, r.missing, r.bytes); break;
    case Kind::kNoted: log.noted(r.thread, r.number, r.noted, r.count); break;
    case Kind::kEnd: log.end(r.end, r.sums); break;
  }
  for (size_t at = 0; at < e.bytes.size();) {  // in pieces, as derived types give them
    const size_t n = std::min<size_t>(e.bytes.size() - at, 1 + (at * 7 + 13) % 70000);
    log.put(bytes_of(std::string_view(e.bytes).substr(at, n)));
    at += n;
  }
}

inline void expect_same(const Entry& a, const Entry& b) {
  const Record &x = a.record, &y = b.record;
  ASSERT_EQ(static_cast<int>(x.kind), static_cast<int>(y.kind));
  EXPECT_EQ(x.thread, y.thread);
  EXPECT_EQ(x.number, y.number);
  EXPECT_EQ(x.where, y.where);
  EXPECT_EQ(x.bytes, y.bytes);
  EXPECT_EQ(x.partition, y.partition);
  EXPECT_EQ(x.partitions, y.partitions);
  EXPECT_EQ(x.post_thread, y.post_thread);
  EXPECT_EQ(x.post_number, y.post_number);
  EXPECT_EQ(x.status, y.status);
  EXPECT_EQ(std::signbit(x.wtime), std::signbit(y.wtime));
  EXPECT_EQ(x.wtime, y.wtime);
  EXPECT_EQ(x.window, y.window);
  EXPECT_EQ(x.region, y.region);
  EXPECT_EQ(x.offset, y.offset);
  EXPECT_EQ(static_cast<int>(x.missing), static_cast<int>(y.missing));
  EXPECT_EQ(static_cast<int>(x.noted), static_cast<int>(y.noted));
  EXPECT_EQ(x.count, y.count);
  EXPECT_EQ(static_cast<int>(x.end), static_cast<int>(y.end));
  EXPECT_EQ(x.sums, y.sums);
  EXPECT_TRUE(a.bytes == b.bytes);
}

// Everything that can be read; `error`: of the end.
inline std::vector<Entry> read_all(std::string_view file, bool* complete = nullptr,
                                   std::string* error = nullptr) {
  std::vector<Entry> out;
  auto log = LogReader::open(memory_source(file), "rank-3.rfm");
  if (!log.ok()) {
    if (error != nullptr) *error = log.error().to_string();
    return out;
  }
  for (Entry e;;) {
    auto more = log->next(e.record);
    if (!more.ok() && error != nullptr) *error = more.error().to_string();
    if (!more.ok() || !*more) break;
    e.bytes.resize(static_cast<size_t>(std::min<uint64_t>(log->left(), 16 << 20)));
    auto n = log->take(std::as_writable_bytes(std::span(e.bytes)));
    if (!n.ok() && error != nullptr) *error = n.error().to_string();
    if (!n.ok() || log->is_cut()) continue;
    out.push_back(e);
  }
  if (complete != nullptr) *complete = log->is_complete();
  return out;
}

inline std::string random_bytes(std::mt19937_64& random, size_t n) {
  std::string s(n, '\0');
  const bool shrinks = random() % 2 == 0;
  for (char& c : s) c = static_cast<char>(shrinks ? random() % 3 : random());
  return s;
}

// Kinds, threads, numbers and lengths as they come.
inline std::vector<Entry> random_log(uint64_t seed, size_t records) {
  std::mt19937_64 random(seed);
  const auto number = [&] { return random() >> random() % 64; };
  std::vector<Entry> out;
  std::vector<uint64_t> at(3);
  std::vector<uint32_t> thread_of;
  uint32_t thread = 0;
  for (size_t i = 0; i < records; ++i) {
    Entry e;
    Record& r = e.record;
    if (random() % 4 == 0) {
      r.kind = Kind::kTurn;
      r.left_thread = thread;
      r.number = at[thread] += random() % 40;
      r.thread = thread = static_cast<uint32_t>((thread + 1 + random() % 2) % 3);
      out.push_back(e);
      continue;
    }
    r.kind = static_cast<Kind>(2 + random() % 9);
    r.thread = thread;
    r.number = at[thread] += random() % 40;
    r.where = r.kind == Kind::kContents || r.kind == Kind::kInside || r.kind == Kind::kPart ||
                      r.kind == Kind::kStatus || r.kind == Kind::kMissing
                  ? number()
                  : 0;
    const bool long_one = random() % 16 == 0;
    const size_t n = random() % (long_one ? 3000000 : 300);
    switch (r.kind) {
      case Kind::kPart:
        r.partition = number();
        r.partitions = number();
        break;
      case Kind::kFetched:
        r.post_thread = random() % 3;
        r.post_number = at[r.post_thread] / 2;
        break;
      case Kind::kWindow:
        r.window = number();
        r.region = number();
        r.offset = number();
        break;
      case Kind::kStatus:
        r.status.has_count = random() % 4 != 0;
        r.status.bytes = r.status.has_count ? number() : 0;
        r.status.error = random() % 2 == 0 ? 0 : static_cast<int32_t>(random());
        r.status.cancelled = random() % 2 == 0;
        break;
      case Kind::kWtime: r.wtime = std::ldexp(static_cast<double>(number()), -20); break;
      case Kind::kMissing:
        r.missing = static_cast<Missing>(1 + random() % 4);
        r.bytes = number();
        break;
      case Kind::kInside: r.bytes = number(); break;
      case Kind::kNoted:
        r.noted = static_cast<Noted>(1 + random() % 5);
        r.count = number();
        break;
      default: break;
    }
    if (r.kind == Kind::kContents || r.kind == Kind::kPart || r.kind == Kind::kFetched ||
        r.kind == Kind::kWindow) {
      e.bytes = random_bytes(random, n);
      r.bytes = n;
    }
    out.push_back(e);
  }
  return out;
}

inline Entry end_of(const Sums& sums) {
  Entry e;
  e.record.kind = Kind::kEnd;
  e.record.end = EndReason::kFinished;
  e.record.sums = sums;
  return e;
}

}  // namespace refrain::format::messages::testing
