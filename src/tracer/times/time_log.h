// TimeLog: begin and end of every call of a location, for `--timing bins`, `exact` and `segments`.
//
//   call that ends --push--> row of calls --kCallsPerBlock of them--> block of the time section
//                                                                        |
//                                            chunk of the spool file <---+---> memory, without
//                                            spool
//
// Segments from marks (`--timing segments:...`) are matched while the program runs: see
// segment_matcher.h. With `record --no-compress` calls go to a PlainLog instead, and are coded in
// MPI_Finalize. Exact times are written in plain blocks, which are also coded there: see
// format/decode/block_recoder.h.
//
// Laws:   no lock and no system call on the path of a call but where a row is full. The row lies in
//         the spool file, too, so that a process that is killed loses none of it. With
//         `--timing stats` there is no TimeLog, and the path of a call does not ask for one: see
//         SpoolLog::keep_times().
// Budget: 15 instructions a call, and what the encoder takes at the end of a row (decision 0018);
//         of exact times a hundred there.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "format/time/block_encoder.h"
#include "format/time/data.h"
#include "grammar/grammar.h"
#include "mpi/call_table.h"
#include "tracer/state/in_order.h"
#include "tracer/state/record_sink.h"
#include "tracer/times/plain_log.h"

namespace refrain::tracer {

struct Location;
class Process;
class InternTable;
class SegmentMatcher;

class TimeLog {
 public:
  // The times of the trace, and exact ones for another, against which the first can be checked.
  // Segments are made of kept ones that are exact: see segment_times.h.
  enum class Which : uint8_t { kKept = 0, kExactCopy = 1, kSegments = 2 };

  // Of a location whose process keeps times.
  explicit TimeLog(const Location& location);
  ~TimeLog();

  // A call that the grammar was given; in ticks.
  void push(Location& location, uint32_t terminal, mpi::CallId call, uint64_t begin, uint64_t end) {
    if (goes_elsewhere_) [[unlikely]]
      return push_elsewhere(location, {begin, end, terminal + 1, call});
    put(location, {begin, end, terminal + 1, call});
  }
  // Encodes what there is.
  void flush(Location& location);
  // Behind the last flush(): all calls of the location, whose terminals count from 0.
  void end(const grammar::Grammar& calls, const InternTable& signatures);
  // Terminals count from location.first_terminal from here on. Behind flush().
  void number_anew(const Location& location);
  // From here on no times are kept, and what was not encoded yet is lost.
  void stop();
  // The grammar lacks calls: these are the times of others.
  void drop();

  // Calls that have times: the first ones of the location. Behind flush().
  uint64_t calls() const { return encoded_ + open_; }
  // What has the segments of all of them; null: they are matched in MPI_Finalize, or not at all.
  SegmentMatcher* matcher() const { return matcher_.get(); }
  // Whether there is a row, for the spool to keep, and of how many calls.
  bool has_row() const { return plain_ == nullptr; }
  size_t row_calls() const;
  PlainCounts plain_counts() const { return plain_counts_; }
  // All blocks, in runs, in order; none of what has been matched. False: some could not be read
  // back from the spool; none of the later ones are visited then, because they would stand at the
  // wrong calls.
  using Visit = RecordSink::TimeVisit;
  bool for_each_run(const Location& location, Which which, const Visit& visit) const;

  // The row is to lie there from now on, in a chunk of the spool; null: nowhere else, for good.
  void move_row(format::spool::Chunk* chunk, uint32_t first_terminal = 0);

 private:
  using TimedCall = format::spool::TimeRowCall;
  void put(Location& location, const TimedCall& call) {
    TimedCall& timed = *next_;
    timed.begin_ticks = call.begin_ticks;
    timed.end_ticks = call.end_ticks;
    timed.call = call.call;
    in_order();
    timed.terminal = call.terminal;
    if (++next_ == end_) [[unlikely]]
      flush(location);
  }
  void set_row(TimedCall* row, size_t calls, size_t used);
  void make_row();
  void clear_row();
  void encode(Location& location);
  void push_elsewhere(Location& location, const TimedCall& call);
  bool for_each_kept_run(const Location& location, const Visit& visit) const;
  void put_plainly(Location& location, const TimedCall& call);
  void end_plain(Location& location);
  bool may_match();
  void match(Location& location);
  void keep_matched(Location& location);

  static constexpr size_t kFirstRow = 8;
  TimedCall first_row_[kFirstRow];  // until there is a larger one
  TimedCall* row_ = first_row_;
  TimedCall *next_ = first_row_, *end_ = first_row_ + kFirstRow;  // where flush() is called
  TimedCall* row_end_ = end_;
  std::vector<TimedCall> own_row_;
  format::spool::Chunk* chunk_ = nullptr;  // of the row, if it lies in the spool
  bool stopped_ = false;
  format::BlockCoding coding_ = format::BlockCoding::kBySignature;
  uint64_t encoded_ = 0;      // calls
  uint64_t last_end_ns_ = 0;  // of these
  format::BlockEncoder encoder_;
  std::vector<format::TimedCall> calls_;  // the row in ns
  // Blocks and their bytes.
  struct Run {
    std::vector<format::TimeBlock> blocks;
    std::string bytes;
    void visit(const Visit& visit) const;
  };
  Run kept_;                                     // those that are not in the spool
  std::unique_ptr<format::BlockEncoder> exact_;  // null: no copy
  Run copy_;
  bool recodes_ = false;  // blocks are plain until the end
  // What that takes; null: they stay as they are.
  struct Recoding {
    grammar::Grammar calls;
    std::vector<uint16_t> call_of;  // by terminal
  };
  std::unique_ptr<Recoding> recoding_;
  bool goes_elsewhere_ = false;  // there is a PlainLog, or a SegmentMatcher
  std::unique_ptr<SegmentMatcher> matcher_;
  bool has_matched_ = false;
  uint32_t open_ = 0;           // calls of the row that the matcher has: its segment under way
  uint64_t ask_memory_at_ = 0;  // encoded_ then
  std::vector<format::TimedCall> to_copy_;
  std::unique_ptr<PlainLog> plain_;  // null: not, or not any more
  PlainCounts plain_counts_;
};

// The times of its calls are kept from now on.
void keep_times(Location& location);

}  // namespace refrain::tracer
