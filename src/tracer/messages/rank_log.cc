#include "tracer/messages/rank_log.h"

#include <dirent.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <system_error>

#include "base/byte_size.h"
#include "format/limits.h"
#include "format/messages/selection.h"
#include "mpi_runtime/built_with.h"
#include "options/environment.h"
#include "tracer/state/comm_info.h"
#include "tracer/state/complain.h"
#include "tracer/state/current.h"
#include "tracer/state/keep_errno.h"
#include "tracer/state/location.h"
#include "tracer/state/process.h"
#include "tracer/state/slow_path_reasons.h"

namespace refrain::tracer {

RankLog* g_rank_log;

using format::messages::EndReason;
using format::messages::Kind;
using options::RecordOption, options::text_of;

namespace {

// Bytes are not longer than this in memory alone, as long as something comes after them.
constexpr uint64_t kFlushNs = 1'000'000'000;

// "2a2b" -> 2 bytes.
std::string from_hex(const std::string& text) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : (c | 32) - 'a' + 10; };
  std::string out;
  for (size_t i = 0; i + 1 < text.size(); i += 2)
    out += static_cast<char>(digit(text[i]) * 16 + digit(text[i + 1]));
  return out;
}

std::string own_build_id(Process& p) {
  const Segment* const segment = p.code.segment_at(getauxval(AT_ENTRY));
  return segment == nullptr ? std::string() : from_hex(segment->module->build_id);
}

// "mpich 4.0.2"
std::string own_mpi() {
  const std::string version = mpi_runtime::library_version();
  std::string text = std::string(mpi_runtime::own_word()) + " " +
                     version.substr(0, version.find_first_of(",\n\t"));
  text.resize(std::min<size_t>(text.size(), format::kMaxLogNameBytes));
  return text;
}

std::vector<format::messages::RankRun> own_group(const Process& p) {
  const auto rank = static_cast<uint64_t>(p.rank), size = static_cast<uint64_t>(p.size);
  const uint64_t node_size = base::parse_bytes(text_of(RecordOption::kNodeSize)).value_or(0);
  if (node_size > 0) return format::messages::node_of(rank, size, node_size);
  const std::string map = text_of(RecordOption::kMap);
  if (map.empty()) return {};
  const auto nodes = format::messages::read_map(map);
  return nodes.ok() ? format::messages::node_of(rank, *nodes)
                    : std::vector<format::messages::RankRun>();
}

// How many ranks there will be is not known when the command line is read.
void complain_of_absent(const Process& p, const std::vector<format::messages::RankRun>& chosen) {
  if (chosen.empty()) return;
  const uint64_t last = uint64_t{chosen.back().first} + chosen.back().count - 1;
  if (last < static_cast<uint64_t>(p.size)) return;
  complain(p, ("--messages names rank " + std::to_string(last) + ", and the job has ranks 0 to " +
               std::to_string(p.size - 1))
                  .c_str());
}

// Logs of ranks that are not logged this time are of an earlier run, whose trace is replaced.
void remove_older_logs(const Process& p, const std::string& folder,
                       const format::messages::Selection& chosen) {
  DIR* const all = p.rank == 0 ? opendir(folder.c_str()) : nullptr;
  if (all == nullptr) return;
  constexpr std::string_view kBegin = "rank-", kEnd = ".rfm";
  while (const dirent* const entry = readdir(all)) {
    std::string_view name = entry->d_name;
    if (!name.starts_with(kBegin) || !name.ends_with(kEnd)) continue;
    name = name.substr(kBegin.size(), name.size() - kBegin.size() - kEnd.size());
    uint64_t rank = 0;
    const auto number = std::from_chars(name.data(), name.data() + name.size(), rank);
    if (number.ec != std::errc() || number.ptr != name.data() + name.size()) continue;
    if (rank >= static_cast<uint64_t>(p.size) || !chosen.has(rank))
      unlinkat(dirfd(all), entry->d_name, 0);
  }
  closedir(all);
}

// N of `win#N`.
std::optional<uint64_t> id_of_window(Process& p, uint64_t key) {
  const Process::Guard guard(p);
  const uint32_t def = p.handles.find(format::DefinitionKind::kWin, key);
  if (def == mpi_runtime::HandleMap::kMissing) return std::nullopt;
  base::ByteReader payload(p.definition(def).payload);
  return static_cast<uint64_t>(payload.zigzag());
}

}  // namespace

// ---- begin and end ----

RankLog* RankLog::open(Process& p) {
  const auto chosen = format::messages::parse_selection(text_of(RecordOption::kMessages));
  const KeepErrno keep;
  const std::string folder = p.options.output + ".messages";
  if (chosen.ok() && p.rank == 0) complain_of_absent(p, chosen->ranks);
  if (chosen.ok()) remove_older_logs(p, folder, *chosen);
  if (!chosen.ok() || !chosen->has(static_cast<uint64_t>(p.rank))) return nullptr;
  const uint64_t limit = base::parse_bytes(text_of(RecordOption::kMessageLimit)).value_or(0);
  auto* const log = new RankLog(limit, p.threaded);
  format::messages::Header header;
  header.run = p.run;
  header.rank = static_cast<uint32_t>(p.rank);
  header.ranks = static_cast<uint32_t>(p.size);
  header.build_id = own_build_id(p);
  header.mpi = own_mpi();
  header.group = log->group_ = own_group(p);
  const std::string name = "rank-" + std::to_string(p.rank) + ".rfm";
  if (log->sink_.create(folder, name)) {
    if (log->writer_.start(header)) return log;
    // No room for a block: what it receives is counted, and end() says so.
    if (log->writer_.stop_reason() == EndReason::kLimit) return log;
  }
  const int error = log->sink_.error() != 0 ? log->sink_.error() : log->writer_.error_number();
  complain(p, ("cannot write " + folder + "/" + name + " (" + strerror(error) +
               "): its messages are not logged")
                  .c_str());
  p.lose("messages_missing", strerror(error));
  delete log;
  return nullptr;
}

void RankLog::end(Process& p) {
  const std::lock_guard<std::mutex> lock(mutex);
  if (over_) return;
  over_ = true;
  const KeepErrno keep;
  const uint64_t file_bytes = writer_.file_bytes();
  writer_.flush();  // it may stop here
  settle_sums(file_bytes, sums_);
  const bool stopped = writer_.stopped();
  const EndReason why = stopped ? writer_.stop_reason() : EndReason::kFinished;
  const int error = writer_.error_number();
  writer_.end(EndReason::kFinished, sums_);
  if (!stopped) return;
  const char* const reason = why == EndReason::kLimit ? "--message-limit"
                             : error != 0             ? strerror(error)
                                                      : "no memory";
  complain(p, ("its message log ends early (" + std::string(reason) +
               "): " + std::to_string(sums_.unlogged) + " receives are not in it")
                  .c_str());
  p.lose("messages_missing", reason);
}

RankLog* begin_rank_log(Process& p) {
  if (text_of(RecordOption::kMessages)[0] == '\0') return nullptr;
  g_rank_log = RankLog::open(p);
  if (g_rank_log != nullptr) set_slow_path_reason(slow_path_reasons::kLogsMessages, true);
  return g_rank_log;
}

void end_rank_log() {
  if (g_rank_log == nullptr) return;
  set_slow_path_reason(slow_path_reasons::kLogsMessages, false);
  g_rank_log->end(process());
}

// ---- groups ----

bool RankLog::is_inside(int64_t world_rank) const {
  return has_groups() && world_rank >= 0 &&
         format::messages::is_among(group_, static_cast<uint64_t>(world_rank));
}

bool RankLog::is_inside(const CommInfo& comm) const {
  if (!has_groups()) return false;
  for (const base::RunList* list : {&comm.local, &comm.remote})
    for (uint64_t i = 0; i < list->size(); ++i)
      if (!is_inside(list->at(i))) return false;
  return true;
}

// ---- records ----

// Calls of several threads may overlap: then the order counts in which they came here, and each of
// them does. Otherwise a call that has nothing to write does not come.
void RankLog::go_to(const Location& l) {
  const uint32_t last = thread_.load(std::memory_order_relaxed);
  if (l.thread >= calls_.size()) [[unlikely]]
    calls_.resize(l.thread + 1);
  if (l.thread != last) [[unlikely]] {
    if (at_ != nullptr && !has_threads_) calls_[last] = std::max(calls_[last], calls_of(*at_));
    if (at_ != nullptr && !has_threads_ && at_->log != nullptr) at_->log->quiet_until_ticks = 0;
    writer_.turn(calls_[last], l.thread);
    thread_.store(l.thread, std::memory_order_relaxed);
  }
  at_ = &l;
  calls_[l.thread] = calls_of(l);
}

void RankLog::count(const WaitingRecord& r) {
  if (r.is_local) return;
  ++(writer_.stopped() ? sums_.unlogged : sums_.receives);
  if (writer_.stopped()) return;
  sums_.received_bytes += r.bytes;
  if (r.is_inside) return;
  sums_.crossing_bytes += r.bytes;
  if (r.kind != Kind::kMissing) sums_.kept_bytes += r.bytes;
}

// `file_bytes` and `before`: of the file and the sums before something was written. What was not in
// the file when logging ended counts as not logged.
void RankLog::settle_sums(uint64_t file_bytes, const format::messages::Sums& before) {
  if (is_settled_) return;
  if (writer_.file_bytes() != file_bytes) safe_ = before;  // also of a block that came to the limit
  if (!writer_.stopped()) return;
  is_settled_ = true;
  const uint64_t lost = sums_.receives - safe_.receives, unlogged = sums_.unlogged;
  sums_ = safe_;
  sums_.unlogged = unlogged + lost;
}

void RankLog::write_contents(uint32_t thread, uint64_t number, const WaitingRecord& r) {
  switch (r.kind) {
    case Kind::kPart:
      writer_.part(thread, number, r.where, r.partition, r.partitions, r.bytes);
      break;
    case Kind::kFetched:
      writer_.fetched(thread, number, r.post_thread, r.post_number, r.bytes);
      break;
    default: writer_.contents(thread, number, r.where, r.bytes);
  }
  if (r.memory != nullptr) return writer_.put({r.memory, static_cast<size_t>(r.bytes)});
  r.fill.pack(r.skip, r.bytes, [&](std::span<const std::byte> piece) { writer_.put(piece); });
}

// Where the record fits into the block, the file stays as it is, and so do the sums that are safe.
void RankLog::write(uint32_t thread, uint64_t number, const WaitingRecord& r) {
  if (writer_.has_room(r.bytes)) return write_record(thread, number, r);
  const format::messages::Sums before = sums_;
  const uint64_t file_bytes = writer_.file_bytes();
  write_record(thread, number, r);
  settle_sums(file_bytes, before);
}

void RankLog::write_record(uint32_t thread, uint64_t number, const WaitingRecord& r) {
  switch (r.kind) {
    case Kind::kStatus: return writer_.status(thread, number, r.where, r.status);
    case Kind::kMissing:
      count(r);
      return writer_.missing(thread, number, r.where, r.missing, r.bytes);
    default: break;
  }
  if (r.bytes == 0) return;
  count(r);
  if (r.is_inside && r.kind == Kind::kContents)
    return writer_.inside(thread, number, r.where, r.bytes);
  if (!r.is_inside) write_contents(thread, number, r);
}

// The changes of window memory that the call has brought, or that came before it.
void RankLog::look_at_windows(Location& l, uint64_t number) {
  Process& p = *l.process;
  for (WatchedWindow& w : windows) {
    if (w.is_fenced && !w.is_due) continue;
    w.is_due = false;
    const auto id = id_of_window(p, w.key);
    if (!id) continue;
    w.look([&](uint64_t offset, std::span<const std::byte> bytes) {
      writer_.window(l.thread, number, *id, w.region, offset, bytes.size());
      writer_.put(bytes);
    });
  }
}

void RankLog::call_over(Location& l, LogThread& t) {
  const SharedLock lock(mutex, has_threads_);
  if (!over_) {
    go_to(l);
    // A call that could not be recorded has no number.
    const bool is_recorded = t.has_call && calls_[l.thread] > t.number;
    if (is_recorded) write_all(l.thread, t);
    if (is_recorded && !windows.empty()) look_at_windows(l, t.number);
    flush_in_time(l);
    let_be_quiet(l, t);
  }
  t.waiting_count = 0;
  t.flat_bytes = 0;
  t.has_call = false;
}

// What is in memory has a time to be written at, so that need not be looked at.
bool RankLog::flat_call_over(const Location& l, LogThread& t) {
  const uint64_t due = flush_ticks_.load(std::memory_order_relaxed);
  if (t.flat_bytes == 0 || t.waiting_count != 0 || at_ != &l || has_threads_ || over_ ||
      due == UINT64_MAX || l.last_end_ticks >= due || !windows.empty() || calls_of(l) <= t.number)
    return false;
  const std::span bytes(t.flat_memory, static_cast<size_t>(t.flat_bytes));
  if (!writer_.put_flat(l.thread, t.number, 0, bytes)) return false;
  count_flat(t.flat_bytes);
  t.flat_bytes = 0;
  t.has_call = false;
  return true;
}

void RankLog::count_flat(uint64_t bytes) {
  ++sums_.receives;
  sums_.received_bytes += bytes;
  sums_.crossing_bytes += bytes;
  sums_.kept_bytes += bytes;
}

void RankLog::write_flat(uint32_t thread, const LogThread& t) {
  const std::span bytes(t.flat_memory, static_cast<size_t>(t.flat_bytes));
  if (writer_.put_flat(thread, t.number, 0, bytes)) return count_flat(t.flat_bytes);
  WaitingRecord r;
  r.kind = Kind::kContents;
  r.memory = t.flat_memory;
  r.bytes = t.flat_bytes;
  write(thread, t.number, r);
}

void RankLog::write_all(uint32_t thread, LogThread& t) {
  if (t.flat_bytes > 0) write_flat(thread, t);
  for (size_t i = 0; i < t.waiting_count; ++i) {
    WaitingRecord& r = t.waiting[i];
    write(thread, t.number, r);
    if (r.memory == nullptr) r.fill = Fill();
  }
}

void RankLog::flush_in_time(const Location& l) {
  const uint64_t due = flush_ticks_.load(std::memory_order_relaxed);
  if (writer_.waiting_bytes() > 0 && l.last_end_ticks < due) {
    if (due == UINT64_MAX)
      flush_ticks_.store(l.last_end_ticks + l.process->clock.to_ticks(kFlushNs),
                         std::memory_order_relaxed);
    return;
  }
  flush_ticks_.store(UINT64_MAX, std::memory_order_relaxed);
  if (writer_.waiting_bytes() == 0) return;
  const uint64_t file_bytes = writer_.file_bytes();
  writer_.flush();
  settle_sums(file_bytes, sums_);
}

void RankLog::wtime(Location& l, double seconds) {
  const std::lock_guard<std::mutex> lock(mutex);
  if (over_) return;
  go_to(l);
  writer_.wtime(l.thread, calls_[l.thread], seconds);
}

void RankLog::noted(Location& l, format::messages::Noted what, uint64_t n) {
  const std::lock_guard<std::mutex> lock(mutex);
  if (over_) return;
  go_to(l);
  writer_.noted(l.thread, calls_[l.thread], what, n);
}

void log_call_over(Location& l) {
  RankLog* const log = g_rank_log;
  if (log == nullptr) return;
  if (l.log == nullptr) l.log = new LogThread;
  LogThread& t = *l.log;
  if (!log->is_due(l, t)) return log->let_be_quiet(l, t);
  const bool was_in_recorder = l.in_recorder;
  l.in_recorder = true;
  const uint64_t begin = l.process->clock.ticks();
  if (!log->flat_call_over(l, t)) log->call_over(l, t);
  const uint64_t end = l.process->clock.ticks();
  l.own_time.add(end - begin);
  l.note_own_work(end);
  l.in_recorder = was_in_recorder;
}

}  // namespace refrain::tracer
