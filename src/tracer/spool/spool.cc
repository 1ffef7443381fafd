#include "tracer/spool/spool.h"

#include <dirent.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "format/merge/duration_bytes.h"
#include "format/spool/live_job.h"
#include "grammar/fold.h"
#include "options/environment.h"
#include "tracer/spool/exit_sign.h"
#include "tracer/state/complain.h"
#include "tracer/state/in_order.h"
#include "tracer/state/keep_errno.h"
#include "tracer/state/location.h"
#include "tracer/state/memory.h"
#include "tracer/state/process.h"
#include "tracer/state/slow_path_reasons.h"
#include "tracer/times/time_log.h"

namespace refrain::tracer {

namespace spool = format::spool;
using spool::Chunk;
using spool::ChunkType;
using spool::RecordKind;

namespace {

constexpr uint64_t kFirstTables = 16 * 1024, kMaxTables = 1 << 20;  // bytes of a chunk
constexpr uint64_t kAhead = 128 * 1024;  // bytes of a chunk whose pages are made at once
constexpr uint64_t kFirstLog = 4000, kMaxLog = 8 << 20;
constexpr uint64_t kMinWords = 8000;  // of a log before a checkpoint: a chunk of 64 KiB
// What statistics of a signature count for in that.
constexpr uint64_t kStatsBytes = 32;

uint64_t realtime_ns() {
  timespec t{};
  clock_gettime(CLOCK_REALTIME, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
}

// Empty: none is wanted.
std::string folder_of(const Process& p) {
  const char* const where = options::text_of(options::RecordOption::kSpool);
  if (where[0] == '\0') return p.options.output + ".spool";
  if (std::strcmp(where, "off") == 0) return {};
  const size_t slash = p.options.output.rfind('/');
  return std::string(where) + "/" + p.options.output.substr(slash + 1) + ".spool";
}

uint64_t* words_of(Chunk* log) { return reinterpret_cast<uint64_t*>(log + 1); }
uint64_t word_count(const Chunk* log) { return room_of(log) / sizeof(uint64_t); }

}  // namespace

Spool::Lock::Lock(Spool& spool) : mutex_(spool.process_.threaded ? &spool.mutex_ : nullptr) {
  if (mutex_ != nullptr) mutex_->lock();
}

// ---- begin and end ----

void Spool::open(Process& p, uint64_t run, const Text& text) {
  const KeepErrno keep;
  if (p.spool != nullptr || folder_of(p).empty()) return;
  auto* s = new Spool(p);
  watch_exit(*s);
  {
    const std::lock_guard<std::mutex> lock(s->mutex_);
    p.sink = p.spool = s;
    if (!s->create(run) || !s->write_all(text) || !s->take_posix())
      s->stop();
    else
      s->meet_analyser(run);
  }
  if (p.place.cores > 0) s->place(p.place);
}

bool Spool::create(uint64_t run) {
  const Process& p = process_;
  spool::Header h;
  h.run = run;
  h.world_size = static_cast<uint32_t>(p.size);
  h.rank = p.rank;
  h.pid = static_cast<int32_t>(getpid());
  gethostname(h.host, sizeof h.host - 1);
  h.opened_ticks = p.clock.ticks();
  h.opened_realtime_ns = realtime_ns();
  h.init_ticks = p.init_ticks;
  h.ns_per_tick = p.clock.use_counter ? p.clock.ns_per_tick : 1.0;
  h.check = spool::check_of(h);
  char name[400];
  std::snprintf(name, sizeof name, "%s-%06d-%s-%d.rank", spool::run_text(run).c_str(), p.rank,
                h.host, h.pid);
  for (char* c = name; *c != '\0'; ++c)
    if (*c == '/') *c = '_';
  run_ = spool::run_text(run);
  mark_ = run_ + ".stopped";
  if (!file_.create(folder_of(p), name, h, kFirstTables + 3 * spool::kPageBytes)) return false;
  watch_unfinished(p, file_.folder(), run_);
  return true;
}

bool Spool::append_text(const std::string& key, const std::string& value) {
  base::ByteWriter out;
  out.put_u8(static_cast<uint8_t>(RecordKind::kText));
  out.put_string(key);
  out.put_string(value);
  return append(out.view());
}

// What was recorded before there was a spool.
bool Spool::write_all(const Text& text) {
  for (const auto& [key, value] : text)
    if (!append_text(key, value)) return false;
  for (const format::Definition& d : process_.definitions)
    if (!append_definition(d)) return false;
  for (uint32_t i = 0; i < process_.signatures.size(); ++i)
    if (!append_signature(process_.signatures.at(i))) return false;
  for (Location* l : process_.locations)
    if (!attach_locked(*l)) return false;
  return true;
}

void Spool::text(const std::string& key, const std::string& value) {
  const KeepErrno keep;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!stopped_ && !append_text(key, value)) stop();
}

void Spool::set_state(spool::State state) {
  if (file_.header() != nullptr && !stopped_) file_.header()->state = state;
}

spool::State Spool::state() {
  return file_.header() == nullptr ? spool::State::kStopped : file_.header()->state;
}

void Spool::abandon() {
  stopped_ = true;
  if (file_.header() == nullptr) return;
  file_.header()->error = ECANCELED;
  in_order();
  file_.header()->state = spool::State::kStopped;
}

// One line for the whole job, if the ranks can see each other's files.
void Spool::stop() {
  stopped_ = true;
  const int error = file_.error();
  if (file_.header() != nullptr) {
    file_.header()->error = error;
    in_order();
    file_.header()->state = spool::State::kStopped;
  }
  for (const auto& t : threads_) t->location->spool.detach();
  if (!make_mark((file_.folder() + "/" + mark_).c_str()) && (errno == EEXIST || process_.rank != 0))
    return;
  const std::string what = "cannot write to " + file_.folder() + " (" + std::strerror(error) +
                           "): if the job dies now, its last calls are lost";
  complain(process_, what.c_str());
}

void Spool::remove() {
  const KeepErrno keep;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (file_.header() != nullptr) file_.header()->state = spool::State::kDone;
  stopped_ = true;
  for (const auto& t : threads_) {
    t->location->spool.detach();
    if (t->location->times != nullptr) t->location->times->move_row(nullptr);
  }
  unlink((file_.folder() + "/" + mark_).c_str());
  forget_unfinished();
  file_.remove();
}

void Spool::remove_run() {
  const KeepErrno keep;
  if (DIR* const folder = opendir(file_.folder().c_str()); folder != nullptr) {
    while (const dirent* entry = readdir(folder))
      if (std::strncmp(entry->d_name, run_.c_str(), run_.size()) == 0)
        unlink((file_.folder() + "/" + entry->d_name).c_str());
    closedir(folder);
  }
  remove();
}

// ---- tables ----

// A record of these bytes behind each other.
bool Spool::append(std::string_view bytes, std::string_view more) {
  const uint64_t size = bytes.size() + more.size();
  const uint64_t need = sizeof(spool::Record) + spool::padded(size);
  if (tables_ == nullptr || tables_->used + need > room_of(tables_)) {
    const uint64_t next = tables_ == nullptr
                              ? kFirstTables
                              : std::min(2 * tables_->bytes, bounded_to(kMaxTables, 32));
    Chunk* const c = file_.add(ChunkType::kTables, 0, std::max(next, need));
    if (c == nullptr) return false;
    if (tables_ != nullptr) {
      full_tables_.push_back({tables_->offset, tables_->bytes, 0});
      file_.release(tables_);
    }
    tables_ = c;
    expected_ = 0;
  }
  if (tables_->used + need > expected_) {
    const uint64_t end = std::min(tables_->used + need + kAhead, room_of(tables_));
    SpoolFile::expect(data_of(tables_) + expected_, end - expected_);
    expected_ = end;
  }
  char* const at = data_of(tables_) + tables_->used;
  char* const data = at + sizeof(spool::Record);
  std::memcpy(data, bytes.data(), bytes.size());
  std::memcpy(data + bytes.size(), more.data(), more.size());
  const spool::Record record{static_cast<uint32_t>(size), format::checksum32({data, size})};
  std::memcpy(at, &record, sizeof record);
  in_order();
  tables_->used += need;
  return true;
}

bool Spool::append_definition(const format::Definition& d) {
  base::ByteWriter out;
  out.put_u8(static_cast<uint8_t>(RecordKind::kDefinition));
  out.put_u8(static_cast<uint8_t>(d.kind));
  out.put_varint(d.refs.size());
  for (const uint32_t ref : d.refs) out.put_varint(ref);
  out.put_bytes(d.payload.data(), d.payload.size());
  return append(out.view());
}

bool Spool::append_signature(std::string_view bytes) {
  const auto kind = static_cast<char>(RecordKind::kSignature);
  return append({&kind, 1}, bytes);
}

void Spool::definition(const format::Definition& d) {
  const KeepErrno keep;
  const Lock lock(*this);
  if (!stopped_ && !append_definition(d)) stop();
}

void Spool::signature(std::string_view bytes) {
  const KeepErrno keep;
  const Lock lock(*this);
  if (!stopped_ && !append_signature(bytes)) stop();
}

void Spool::loss(const char* reason, uint64_t calls, const char* detail) {
  const KeepErrno keep;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (stopped_) return;
  base::ByteWriter out;
  out.put_u8(static_cast<uint8_t>(RecordKind::kLoss));
  out.put_string(reason);
  out.put_varint(calls);
  out.put_string(detail);
  if (!append(out.view())) stop();
}

// ---- locations ----

void Spool::attach(Location& location) {
  const KeepErrno keep;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!stopped_ && !attach_locked(location)) stop();
}

bool Spool::attach_locked(Location& l) {
  auto t = std::make_unique<SpoolThread>();
  t->location = &l;
  t->state = file_.add(ChunkType::kLocation, l.thread, sizeof(spool::LocationState));
  if (t->state == nullptr) return false;
  l.spool.set_state(reinterpret_cast<spool::LocationState*>(t->state + 1));
  l.spool.thread = t.get();
  threads_.push_back(std::move(t));
  attach_row(l);
  SpoolThread& added = *threads_.back();
  return extend(added, 0, 1) && (l.grammar.length() == 0 || checkpoint(added));
}

// One more chunk for the log, from the call number `position` on.
bool Spool::extend(SpoolThread& t, uint64_t position, uint64_t words) {
  const uint64_t bytes =
      t.logs.empty() ? kFirstLog : std::min(2 * t.logs.back()->bytes, bounded_to(kMaxLog, 32));
  Chunk* const c =
      file_.add(ChunkType::kLog, t.location->thread, std::max(bytes, words * sizeof(uint64_t)));
  if (c == nullptr) return false;
  c->position = position;
  c->first_terminal = t.location->first_terminal;
  in_order();
  t.logs.push_back(c);
  t.location->spool.set_log(words_of(c), words_of(c) + word_count(c));
  return true;
}

void Spool::push_slowly(Location& l, uint32_t terminal, uint64_t ticks, uint64_t gap) {
  const KeepErrno keep;
  const Process::Guard guard(process_);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (stopped_) return l.spool.detach();
  SpoolThread& t = *l.spool.thread;
  const uint64_t high = ticks >> 32, gap_high = gap == SpoolLog::kNoGap ? 0 : gap >> 32;
  const uint64_t words = 1 + (high != 0) + (gap != SpoolLog::kNoGap) + (gap_high != 0);
  if (!l.spool.has_room(words)) {
    // The grammar has the call already: a checkpoint puts it into the base.
    if (is_log_large(t) && checkpoint(t)) return;
    if (!extend(t, calls_of(l) - 1, words)) {
      if (!checkpoint(t)) stop();
      return;
    }
  }
  if (gap_high != 0) l.spool.put(gap_high << 32 | spool::kLongGap);
  if (gap != SpoolLog::kNoGap) l.spool.put(gap << 32 | spool::kGap);
  if (high != 0) l.spool.put(high << 32 | spool::kLongCall);
  l.spool.put(ticks << 32 | (terminal + 1));
  l.spool.open_window();
}

bool Spool::is_log_large(const SpoolThread& t) const {
  uint64_t words = 0;
  for (const Chunk* c : t.logs) words += word_count(c);
  const uint64_t bytes =
      t.location->grammar.memory_bytes() + process_.first_ticks.size() * kStatsBytes;
  return words >= std::max(kMinWords, bounded_to(2 * bytes, 16) / sizeof(uint64_t));
}

// ---- checkpoints ----

bool Spool::checkpoint(SpoolThread& t) {
  const Location& l = *t.location;
  if (!memory_for(4 * l.grammar.memory_bytes() + 64 * process_.first_ticks.size())) return false;
  const grammar::Grammar grammar = l.grammar.snapshot();
  // A snapshot that ran out of memory on its way lacks its last calls.
  uint64_t length = 0;
  if (!grammar::checked_length(grammar, &length) || length != l.grammar.length()) return false;
  learn_rate();
  if (!write_stats(t)) return false;
  base::ByteWriter out;
  out.put_varint(l.spool.calls_before);
  out.put_varint(l.first_terminal);
  grammar::write(grammar, out);
  if (!seal(t.base, ChunkType::kBase, l.thread, calls_of(l), out.view())) return false;
  clear_log(t, l.first_terminal);
  return true;
}

// What is in the log is in a base by now, whole or not: the reader skips what it has.
void Spool::clear_log(SpoolThread& t, uint32_t first_terminal) {
  const Location& l = *t.location;
  while (t.logs.size() > 1) {
    file_.drop(t.logs.front());
    t.logs.erase(t.logs.begin());
  }
  Chunk* const log = t.logs.front();
  uint64_t* const words = words_of(log);
  words[0] = 0;
  in_order();
  log->position = calls_of(l);
  log->first_terminal = first_terminal;
  std::memset(words, 0, room_of(log));
  in_order();
  t.location->spool.set_log(words, words + word_count(log));
}

// Into the chunk whose turn it is; the other one stays valid until this one is.
bool Spool::seal(SpoolThread::Pair& pair, ChunkType type, uint32_t owner, uint64_t position,
                 std::string_view bytes) {
  Chunk*& c = pair.chunk[(pair.generation + 1) % 2];
  if (c == nullptr || bytes.size() > room_of(c)) {
    Chunk* const larger =
        file_.add(type, owner, is_bounded() ? bytes.size() + bytes.size() / 4 : 2 * bytes.size());
    if (larger == nullptr) return false;
    if (c != nullptr) file_.drop(c);
    c = larger;
  }
  c->generation = 0;
  in_order();
  fill(*c, pair, position, bytes);
  return true;
}

}  // namespace refrain::tracer
