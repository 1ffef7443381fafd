// Receiver: the stream of a rank -> the record of the rank, as its recorder has it
// (docs/live_format.md). At any moment it gives what a spool file would give at that moment.
//
// Any bytes give a record or an error; what was received before an error stays. Memory is
// proportional to the bytes received, with a grammar of a few kB for each thread. Not thread safe;
// several ranks have receivers of their own.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "format/live/decode/block_reader.h"
#include "format/live/layout.h"
#include "format/spool/tables.h"
#include "grammar/builder.h"

namespace refrain::format::live {

struct ReceiverOptions {
  // Times of single calls beyond this are not kept, which is a loss that the record tells.
  uint64_t max_time_bytes = uint64_t{1} << 28;
};

// Begin and end of calls of a thread that are in no block yet, on the rank's own clock.
struct EarlyTimes {
  uint64_t first = 0;  // number of the first call
  std::deque<std::pair<uint64_t, uint64_t>> calls;
  uint64_t end() const { return first + calls.size(); }
};

class Receiver {
 public:
  explicit Receiver(ReceiverOptions options = {}) : options_(options) {}

  // The next bytes of the stream. An error says what is wrong with it, and where: then, and ever
  // after, as nothing that follows can be trusted.
  base::Status receive(std::string_view bytes);
  // No more bytes will come: an error when the stream is not complete.
  base::Status finish() const;

  bool has_begun() const { return hello_.has_value(); }
  const Hello& hello() const { return *hello_; }  // once it has begun
  bool is_over() const { return end_.has_value(); }
  std::optional<EndReason> end() const { return end_; }
  const State& state() const { return state_; }
  uint64_t bytes() const { return blocks_.bytes(); }
  uint64_t calls() const;

  // Times of the first calls of each thread: blocks, and what stands in for those that have not
  // come. Good until the next use.
  const std::map<uint32_t, spool::ThreadTimes>& times() const { return times_; }
  const std::map<uint32_t, EarlyTimes>& early_times() const { return early_; }
  // When the writer began the look that brought the state: its wall clock. 0: not known.
  uint64_t looked_ns() const { return looked_ns_; }

  // What there is until now, but for the times of single calls; once it has begun. O(record).
  spool::RankSpool now() const;
  // The same with those times, which the receiver has no longer then.
  spool::RankSpool take();

 private:
  struct Thread {
    std::vector<grammar::Grammar> before;  // parts, or a snapshot
    uint64_t calls_before = 0;             // of these
    grammar::Builder builder;
    uint64_t calls() const { return calls_before + builder.length(); }
  };

  base::Status record(uint8_t kind, std::string_view bytes);
  const char* read(uint8_t kind, std::string_view bytes);
  const char* read_hello(base::ByteReader& in);
  const char* read_calls(base::ByteReader& in);
  const char* read_snapshot(base::ByteReader& in);
  const char* read_part(base::ByteReader& in);
  const char* read_statistics(base::ByteReader& in);
  const char* read_times(base::ByteReader& in);
  const char* read_early_times(base::ByteReader& in);
  void drop_early(uint32_t number, uint64_t until);
  const char* read_state(base::ByteReader& in);
  const char* read_end(base::ByteReader& in);
  const char* read_posix(base::ByteReader& in);
  Thread* thread(uint64_t number);
  static const char* read_change(base::ByteReader& in, DurationStats& to);

  const ReceiverOptions options_;
  BlockReader blocks_;
  std::optional<Hello> hello_;
  std::optional<EndReason> end_;
  spool::Tables tables_;
  RankRecord tables_of_;  // definitions, texts, losses, place
  State state_;
  std::map<uint32_t, Thread> threads_;
  std::deque<DurationStats> statistics_[2];  // by Statistic
  std::vector<PosixUse> posix_;
  std::map<uint32_t, spool::ThreadTimes> times_;
  std::map<uint32_t, EarlyTimes> early_;
  uint64_t time_bytes_ = 0, lost_times_ = 0, looked_ns_ = 0;
};

}  // namespace refrain::format::live
