// RankLog: the message log of this rank (docs/format.md, "Message logs"), and what it needs to know
// of operations under way.
//
//   wrapper -> logged_MPI_Recv (wrap/logged_*) -> MPI_Recv
//                |  the call returns: notes what is to be written in LogThread::waiting
//                v
//   the wrapper records the call; CallScope ends: RankLog::call_over() packs and writes
//
// So the number of the call is known when its records are written, and its time has none of the
// writing in it.
//
// Laws: nothing here makes the program fail: at a full disk, at a limit or without memory logging
// ends, and what is not logged is counted. Nothing of this exists without --messages. A record of
// bytes in a row allocates nothing, and is copied once, into the block.
// Budget: 500 instructions for a receive, all that the log adds to it and to the calls beside it;
// `./dev bench messages` counts 481, of which each call that fills nothing has 40 to 75.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "format/messages/encode/log_writer.h"
#include "tracer/messages/fill.h"
#include "tracer/messages/posted.h"
#include "tracer/messages/type_maps.h"
#include "tracer/messages/windows.h"
#include "tracer/state/location.h"
#include "tracer/state/slow_path_reasons.h"

namespace refrain::tracer {

struct CommInfo;
class CallScope;
class Process;

// A record that is written when its call is over.
struct WaitingRecord {
  format::messages::Kind kind{};
  bool is_inside = false, is_local = false;
  uint64_t where = 0;
  uint64_t skip = 0, bytes = 0;       // of the fill, or
  const std::byte* memory = nullptr;  // of bytes in a row, if it is not null
  Fill fill;
  uint64_t partition = 0, partitions = 0;
  uint32_t post_thread = 0;
  uint64_t post_number = 0;
  format::messages::StatusFields status;
  format::messages::Missing missing{};
};

// Of a location.
struct LogThread {
  // Bytes in a row that the call has filled, at place 0 and before all else: what most receives are
  // needs no record in between.
  void fill_flat(const std::byte* memory, uint64_t bytes) {
    flat_memory = memory;
    flat_bytes = bytes;
  }
  // How many bytes of contents the call has noted last, if those were at `where`; else 0.
  uint64_t contents_at(uint64_t where) const {
    if (waiting_count == 0) return where == 0 ? flat_bytes : 0;
    const WaitingRecord& last = waiting[waiting_count - 1];
    return last.kind == format::messages::Kind::kContents && last.where == where ? last.bytes : 0;
  }

  // One more, with these fields and without contents. Those of calls before are used again.
  WaitingRecord& add(format::messages::Kind kind, uint64_t where) {
    if (waiting_count == waiting.size()) waiting.emplace_back();
    WaitingRecord& r = waiting[waiting_count++];
    r.kind = kind;
    r.where = where;
    r.skip = r.bytes = 0;
    r.memory = nullptr;
    r.is_inside = r.is_local = false;
    return r;
  }

  // Whatever a call left here that ended by a jump is void.
  void begin_call() {
    waiting_count = 0;
    flat_bytes = 0;
    has_call = false;
    scope = nullptr;
  }

  std::vector<WaitingRecord> waiting;
  size_t waiting_count = 0;  // of these
  const std::byte* flat_memory = nullptr;
  uint64_t flat_bytes = 0;     // 0: there are none
  uint64_t number = 0;         // calls of the thread before that call
  bool has_call = false;       // a call under way is to be logged
  CallScope* scope = nullptr;  // of the call under way, where that has to be told to look here
  // A call before which the thread's last one ended before this takes the short way in. 0: none.
  uint64_t quiet_until_ticks = 0;
};

class RankLog {
 public:
  // Null: this rank is not logged, or its file cannot be made, which is said. After MPI_Init, when
  // rank and size are known.
  static RankLog* open(Process& process);

  // Whether there is something to do behind a call: records, another thread than before, windows
  // to look at, or bytes that were in memory for long.
  bool is_due(const Location& l, const LogThread& t) const {
    return t.has_call || has_threads_ || l.thread != thread_.load(std::memory_order_relaxed) ||
           l.last_end_ticks >= flush_ticks_.load(std::memory_order_relaxed);
  }
  // The next calls of the thread may take the short way in, until bytes are in memory for long.
  void let_be_quiet(const Location& l, LogThread& t) {
    const bool is_at = !has_threads_ && l.thread == thread_.load(std::memory_order_relaxed);
    if (is_at) at_ = &l;  // whoever is another one looks at it first
    t.quiet_until_ticks = is_at ? flush_ticks_.load(std::memory_order_relaxed) : 0;
  }
  void call_over(Location& location, LogThread& thread);
  // The same of a call that has filled bytes in a row, and nothing else is to be done. False:
  // nothing was.
  bool flat_call_over(const Location& location, LogThread& thread);
  void wtime(Location& location, double seconds);
  void noted(Location& location, format::messages::Noted what, uint64_t count);
  // No more is written.
  void end(Process& process);

  // Whether ranks are told apart by their groups.
  bool has_groups() const { return !group_.empty(); }
  bool is_inside(int64_t world_rank) const;
  // All members of both sides.
  bool is_inside(const CommInfo& comm) const;

  TypeMaps types;
  std::mutex mutex;  // of the tables, and of the file
  PostedTable posted;
  FetchTable fetches;
  WatchedWindows windows;
  // Nothing fills memory later or unseen.
  bool is_idle() const { return windows.empty() && posted.empty(); }
  FetchTable splits;  // by files: of split collectives

 private:
  class FileSink : public format::messages::LogSink {
   public:
    bool create(const std::string& folder, const std::string& name);
    int write(std::span<const std::byte> bytes, size_t reserve) override;
    int error() const { return error_; }

   private:
    std::string path_;
    uint64_t end_ = 0, reserved_ = 0;
    int error_ = 0;
  };

  RankLog(uint64_t limit_bytes, bool has_threads)
      : writer_(sink_, limit_bytes), has_threads_(has_threads) {}
  void write(uint32_t thread, uint64_t number, const WaitingRecord& record);
  void write_record(uint32_t thread, uint64_t number, const WaitingRecord& record);
  void flush_in_time(const Location& location);
  void write_contents(uint32_t thread, uint64_t number, const WaitingRecord& record);
  void count(const WaitingRecord& record);
  void write_all(uint32_t thread, LogThread& t);
  void write_flat(uint32_t thread, const LogThread& t);
  void count_flat(uint64_t bytes);
  void settle_sums(uint64_t file_bytes, const format::messages::Sums& before);
  void go_to(const Location& location);
  void look_at_windows(Location& location, uint64_t number);

  FileSink sink_;
  format::messages::LogWriter writer_;
  std::vector<format::messages::RankRun> group_;
  format::messages::Sums sums_;
  format::messages::Sums safe_;  // of what is in the file, and not in memory alone
  bool is_settled_ = false;      // the sums have nothing that was lost when logging ended
  std::vector<uint64_t> calls_;  // of each thread so far
  const bool has_threads_;       // whose calls may overlap
  // The thread that the log is at. Others than that thread look at its number without a lock.
  std::atomic<uint32_t> thread_{0};
  const Location* at_ = nullptr;
  // When the bytes in memory are to be written whatever their number; by the clock of calls.
  std::atomic<uint64_t> flush_ticks_{UINT64_MAX};
  bool over_ = false;
};

// Of the calling process; null: none.
extern __attribute__((visibility("hidden"))) RankLog* g_rank_log;
inline RankLog* rank_log() { return g_rank_log; }
// Opens it where --messages says so.
RankLog* begin_rank_log(Process& process);
// At the end of recording. Does nothing a second time.
void end_rank_log();
// In front of a call of C: whether all that is unusual is that log, and it has nothing to do before
// the call. It may have behind it: see LogThread::scope. Budget: 12 instructions.
inline bool is_only_logged(const Location& l) {
  return !has_slow_path_reason(slow_path_reasons::kAnything & ~slow_path_reasons::kLogsMessages) &&
         l.depth == 0 && l.log != nullptr && l.last_end_ticks < l.log->quiet_until_ticks &&
         !l.in_recorder;
}
// Behind a call, under the reason kLogsMessages.
void log_call_over(Location& location);

}  // namespace refrain::tracer
