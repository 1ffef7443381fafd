// Cursor: reads the spool file of a process that still writes it, look by look: each look gives
// what is new since the one before, and costs as much as that (living_file.h says why it is one
// state).
//
//   - tables (definitions, signatures) only grow, and are read last: whatever a call names is
//   there;
//   - calls come from the log, or, where a checkpoint has cleared it in between, out of the grammar
//     that the checkpoint wrote: no call is missed, however seldom somebody looks;
//   - statistics are those of the last checkpoint and of the log behind it.
//
// After the last look there is what read() finds in the file (read.h); before it, a prefix of the
// calls of each thread, at least those that had returned when the look began. Any bytes give that
// or `damage`. Not thread safe; several cursors may read one file.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "format/spool/living_file.h"
#include "format/spool/parts.h"
#include "format/spool/read.h"
#include "format/spool/tables.h"

namespace refrain::format::spool {

// Who is told what is new, in an order in which nothing names what did not come before.
class CursorSink {
 public:
  virtual ~CursorSink() = default;
  // A record of the tables, which begins with its kind. Signatures are unique ones: a call's
  // terminal is their number.
  virtual void table(std::string_view record) = 0;
  virtual void calls(uint32_t thread, std::span<const uint32_t> terminals) = 0;
  // All calls of the thread until its call n, in place of those that came: there are very many new
  // ones, and they need not come one by one. False: one by one all the same.
  virtual bool snapshot(uint32_t thread, uint64_t n, const grammar::Grammar& grammar) = 0;
  virtual void times(uint32_t thread, const TimeBlock& block, std::string_view bytes) = 0;
  // Exact times of calls behind the blocks, on the rank's own clock: they will be in a block later.
  // Each comes once.
  virtual void early_times(uint32_t, uint64_t /*first_call*/, std::span<const TimedCall>) {}
};

class Cursor {
 public:
  static base::Result<Cursor> open(const std::string& path);

  // False: checkpoints came in between, each time; nothing is new, and nothing is lost.
  base::Result<bool> look(CursorSink& sink);
  // After the last look at a process that has ended: times that it had not encoded yet.
  void last_times(CursorSink& sink);

  // As of the last look that was none of these.
  const Header& header() const { return header_; }
  const std::deque<DurationStats>& durations() const { return durations_; }
  const std::deque<DurationStats>& gaps() const { return gaps_; }  // empty: not kept
  const std::vector<Progress>& threads() const { return progress_; }
  const RankTotals& totals() const { return totals_; }
  // Of a rank whose run has ended; else null.
  const RunEnd* run_end() const { return tables_.end ? &*tables_.end : nullptr; }
  const OwnPieces& own_pieces() const { return tables_.own_pieces; }
  const std::vector<PosixUse>& posix() const { return posix_; }
  uint64_t duration_ns() const { return duration_ns_; }
  const std::set<std::string>& damage() const { return damage_; }
  const LivingFile& file() const { return file_; }
  // Whether the rank keeps times of single calls.
  bool keeps_times() const { return timing().has_times(); }
  // Of a job whose analyser we are: tells the rank how far the times of its calls have come.
  void tell_taken();

  static constexpr int kTries = 8;
  // So many calls behind the log, and a snapshot takes their place.
  static constexpr uint64_t kSnapshotFrom = uint64_t{1} << 20;

 private:
  struct Thread {
    uint64_t calls = 0;
    // The place in the log: chunk, what tells that it was not cleared, and the byte behind its
    // header.
    uint64_t log_offset = 0, log_position = 0, log_byte = 0;
    uint32_t last = UINT32_MAX;  // signature of the last call
    uint64_t last_ticks = 0;     // its duration, when it was in the log
    bool last_is_in_log = false;
    Covered of_parts, covered;
    // The newest statistics, and those of calls behind them.
    uint64_t stats_offset = 0, stats_generation = 0;
    StatList first_calls, others, gaps;
    std::map<uint32_t, DurationStats> behind, gaps_behind;
    uint64_t in_mpi_behind_ns = 0;
    // Times: blocks of the first calls.
    uint64_t timed_calls = 0, timed_until_ns = 0;
    uint64_t early_calls = 0, early_until_ns = 0;  // all that have times; behind the blocks, too
    bool has_new_block = false;
    bool times_are_damaged = false;
  };
  struct LogPart {
    Chunk chunk;
    uint64_t from = 0;  // byte behind its header
    std::string words;
  };
  // What of a file may change, as it was at one moment.
  struct Moment {
    Header header;
    std::vector<std::pair<uint32_t, LocationState>> locations;
    std::map<uint32_t, std::vector<LogPart>> logs;
    std::deque<std::string> bytes;
    std::vector<Piece> bases, stats;
    std::set<std::pair<uint64_t, uint64_t>> stats_there;  // offset, generation
    std::set<uint32_t> wants_snapshot;
    std::map<uint32_t, uint64_t> reach;  // of threads that have logs: calls that can be known
  };

  explicit Cursor(LivingFile file) : file_(std::move(file)) {}
  bool read_moment(Moment& m);
  void read_logs(uint32_t owner, std::vector<Chunk> logs, Moment& m, uint64_t* from);
  uint64_t end_of_logs(uint32_t owner, const Moment& m) const;
  void read_tables(const std::vector<Chunk>& chunks, CursorSink& sink);
  void read_records(std::string_view bytes, CursorSink& sink);
  void add_stats(const Moment& m);
  bool add_stats_of(const Piece& piece, Stats s, base::ByteReader in);
  void add_calls(uint32_t owner, const LocationState& state, Moment& m, CursorSink& sink);
  void catch_up(uint32_t owner, Thread& t, const Moment& m, CursorSink& sink);
  bool take_log(uint32_t owner, Thread& t, const LogPart& log, CursorSink& sink);
  void add_progress(uint32_t owner, const Thread& t, const LocationState& state);
  void sum_up();
  TimeSpec timing() const;
  void read_times(const std::vector<Chunk>& chunks, CursorSink& sink);
  void read_blocks(const std::vector<Chunk>& chunks, CursorSink& sink);
  void read_rows(const std::vector<Chunk>& chunks, CursorSink& sink);
  std::vector<TimedCall> read_row(const Chunk& row, const Thread& thread);
  void read_posix(const std::vector<Chunk>& chunks);
  void add_list(const StatList& list, std::deque<DurationStats>& to) const;
  uint64_t consumed(const Chunk& c) const;

  LivingFile file_;
  Header header_;
  Tables tables_;
  RankRecord tables_of_;
  std::map<uint64_t, uint64_t> consumed_;  // of chunks that only grow, by offset: bytes
  std::map<uint32_t, Thread> threads_;
  std::set<uint64_t> parts_;        // offsets of parts of statistics that are summed up
  std::set<uint64_t> first_calls_;  // terminals from which those of parts are there
  std::deque<DurationStats> of_parts_, gaps_of_parts_;
  std::deque<DurationStats> durations_, gaps_;
  std::vector<Progress> progress_;
  RankTotals totals_;
  std::vector<PosixUse> posix_;
  uint64_t duration_ns_ = 0;
  std::set<std::string> damage_;
};

}  // namespace refrain::format::spool
