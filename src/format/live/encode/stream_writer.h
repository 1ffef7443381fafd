// StreamWriter: what a rank has recorded since the last look -> blocks of its stream
// (docs/live_format.md).
//
//   StreamWriter out(writer);
//   out.hello(...);
//   at each look: out.table(...), out.calls(...), out.statistics(...), out.state(...);
//   send(out.take());
//   at the end: out.end(...);
//
// Holds a grammar for each thread, as its receiver does: 10^7 calls of a loop take about 0.1 s and
// a few bytes. Arguments are trusted: they come from our own reader of a spool. Not thread safe.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "format/live/layout.h"
#include "format/time/data.h"
#include "format/trace_data.h"
#include "grammar/builder.h"

namespace refrain::format::live {

class StreamWriter {
 public:
  // `writer` tells apart the streams of a job.
  explicit StreamWriter(uint64_t writer) : writer_(writer) {}

  void hello(const Hello& hello);
  // A record of the tables, which begins with its kind; signatures are unique ones.
  void table(std::string_view record);
  // The next calls of a thread, as terminals.
  void calls(uint32_t thread, std::span<const uint32_t> terminals);
  // All calls of the thread until its call n, in place of what was sent. False: it is too long for
  // a record, and nothing is sent.
  bool snapshot(uint32_t thread, uint64_t n, const grammar::Grammar& grammar);
  // The calls so far leave the memory of both ends as a grammar, and the next ones begin another.
  void part(uint32_t thread);
  // By signature; sends what differs from the last ones.
  void statistics(Statistic which, const std::deque<DurationStats>& now);
  void times(uint32_t thread, const TimeBlock& block, std::string_view bytes);
  // Of calls that will be in a block later: the next ones of the thread, on the rank's own clock.
  void early_times(uint32_t thread, uint64_t first_call, std::span<const TimedCall> calls);
  // When the writer began to read what it says of the rank: wall-clock ns since 1970.
  void looked(uint64_t realtime_ns);
  // Sends them where they are not the last ones.
  void posix(const std::vector<PosixUse>& uses);
  void state(const State& state);
  void end(EndReason reason);

  // Blocks that are not taken yet, the one that was begun included.
  std::string take();

  // Bytes of all blocks; calls of all threads; of the grammars in memory.
  uint64_t bytes() const { return bytes_; }
  uint64_t calls() const { return calls_; }
  uint64_t memory_bytes(uint32_t thread) const;

 private:
  struct Thread {
    grammar::Builder builder;
    uint64_t before = 0;  // calls that are not in it
  };
  void put(StreamRecord kind, std::string_view bytes);
  void put_record(uint8_t kind, std::string_view bytes);
  void end_block();
  static void put_change(base::ByteWriter& out, uint64_t step, const DurationStats& from,
                         const DurationStats& to);

  const uint64_t writer_;
  uint64_t number_ = 0, bytes_ = 0, payload_bytes_ = 0, calls_ = 0;
  std::string blocks_;
  base::ByteWriter payload_;
  std::map<uint32_t, Thread> threads_;
  std::deque<DurationStats> sent_[2];  // by Statistic
  std::vector<PosixUse> sent_posix_;
};

}  // namespace refrain::format::live
