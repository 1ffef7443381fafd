#include "format/spool/cursor.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "format/limits.h"
#include "grammar/fold.h"
#include "grammar/terminal_cursor.h"

namespace refrain::format::spool {

namespace {

constexpr size_t kCallsAtOnce = 65536;

// Passes calls on, many at a time.
class Batch {
 public:
  Batch(uint32_t thread, CursorSink& sink) : thread_(thread), sink_(sink) {}
  ~Batch() { flush(); }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;
  void add(uint32_t terminal) {
    calls_.push_back(terminal);
    if (calls_.size() == kCallsAtOnce) flush();
  }

 private:
  void flush() {
    if (!calls_.empty()) sink_.calls(thread_, calls_);
    calls_.clear();
  }
  const uint32_t thread_;
  CursorSink& sink_;
  std::vector<uint32_t> calls_;
};

std::string of_thread(uint32_t thread) { return "thread " + std::to_string(thread); }

}  // namespace

base::Result<Cursor> Cursor::open(const std::string& path) {
  auto file = LivingFile::open(path);
  if (!file.ok()) return file.error();
  Cursor cursor(std::move(*file));
  const auto header = cursor.file_.header();
  if (!header.ok()) return header.error();
  cursor.header_ = *header;
  return cursor;
}

base::Result<bool> Cursor::look(CursorSink& sink) {
  Moment m;
  for (int i = 0; i < kTries; ++i) {
    // The state first: when it says that the process is done, all that follows is final.
    const auto header = file_.header();
    if (!header.ok()) return header.error();
    m = {};
    m.header = *header;
    if (!read_moment(m)) continue;
    header_ = m.header;
    std::vector<Chunk> chunks;
    (void)file_.find_chunks(chunks);
    read_tables(chunks, sink);
    add_stats(m);
    progress_.clear();
    totals_ = {};
    duration_ns_ = 0;
    for (const auto& [owner, state] : m.locations) add_calls(owner, state, m, sink);
    sum_up();
    read_times(chunks, sink), read_posix(chunks);
    return true;
  }
  return false;
}

// ---- what changes ----
bool Cursor::read_moment(Moment& m) {
  std::vector<Chunk> chunks, used;
  if (!file_.find_chunks(chunks)) return false;
  std::map<uint32_t, std::vector<Chunk>> logs;
  std::set<uint32_t> owners;
  for (const Chunk& c : chunks) {
    if (c.type == ChunkType::kLog) logs[c.owner].push_back(c);
    if (c.type == ChunkType::kLocation && m.locations.size() < kMaxLocations &&
        owners.insert(c.owner).second) {
      const std::string bytes = file_.read_at(c.offset + sizeof(Chunk), sizeof(LocationState));
      if (bytes.size() < sizeof(LocationState)) return false;
      m.locations.emplace_back(c.owner, load<LocationState>(bytes, 0));
    }
  }
  std::map<uint32_t, uint64_t> bases_from;  // of threads that need some: the first call
  for (auto& [owner, of_owner] : logs) {
    std::sort(of_owner.begin(), of_owner.end(),
              [](const Chunk& a, const Chunk& b) { return a.position < b.position; });
    uint64_t from = UINT64_MAX;
    read_logs(owner, of_owner, m, &from);
    if (from != UINT64_MAX) bases_from[owner] = from;
    m.reach[owner] = end_of_logs(owner, m);
    used.insert(used.end(), of_owner.begin(), of_owner.end());
  }
  for (const Chunk& c : chunks) {
    if (c.generation == 0) continue;
    const auto from = bases_from.find(c.owner);
    const auto reach = m.reach.find(c.owner);
    // The call that a checkpoint found no room for is in its base and never in the log.
    const bool is_base =
        c.type == ChunkType::kBase && ((from != bases_from.end() && c.position > from->second) ||
                                       (reach != m.reach.end() && c.position > reach->second));
    if (c.type == ChunkType::kStats) m.stats_there.insert({c.offset, c.generation});
    const auto t = threads_.find(c.owner);
    const bool is_known = c.position != 0 ? parts_.contains(c.offset)
                                          : t != threads_.end() && t->second.stats_offset != 0 &&
                                                c.generation <= t->second.stats_generation;
    const bool is_stats = c.type == ChunkType::kStats && !is_known;
    if (!is_base && !is_stats) continue;
    m.bytes.push_back(
        file_.read_at(c.offset + sizeof(Chunk), std::min(c.used, c.bytes - sizeof(Chunk))));
    (is_base ? m.bases : m.stats).push_back({c, m.bytes.back()});
    used.push_back(c);
  }
  for (const Piece& base : m.bases)
    if (uint64_t& reach = m.reach[base.chunk.owner]; reach < base.chunk.position)
      reach = base.chunk.position;
  std::stable_sort(m.stats.begin(), m.stats.end(), [](const Piece& a, const Piece& b) {
    return a.chunk.generation < b.chunk.generation;
  });
  return std::all_of(used.begin(), used.end(),
                     [this](const Chunk& c) { return file_.is_unchanged(c); });
}

// The log of a thread behind what is known of it. `from`: the first call that bases are wanted
// from, where the log begins behind what is known.
void Cursor::read_logs(uint32_t owner, std::vector<Chunk> logs, Moment& m, uint64_t* from) {
  const Thread& t = threads_[owner];
  size_t first = 0;
  while (first + 1 < logs.size() && logs[first + 1].position <= t.calls) ++first;
  if (logs[first].position > t.calls) {
    const bool is_long = logs[first].position - t.calls >= kSnapshotFrom;
    if (is_long) m.wants_snapshot.insert(owner);
    *from = is_long ? 0 : t.calls;
  }
  for (size_t i = first; i < logs.size(); ++i) {
    const bool goes_on =
        logs[i].offset == t.log_offset && logs[i].position == t.log_position && t.log_offset != 0;
    const uint64_t byte = goes_on ? t.log_byte : 0;
    m.logs[owner].push_back({logs[i], byte, file_.read_log(logs[i], byte)});
  }
}

// How many calls are known once the logs are read.
uint64_t Cursor::end_of_logs(uint32_t owner, const Moment& m) const {
  const auto t = threads_.find(owner);
  uint64_t out = t == threads_.end() ? 0 : t->second.calls;
  for (const LogPart& log : m.logs.at(owner)) {
    uint64_t at = log.from == 0 ? log.chunk.position : out;
    LogWords words(log.words);
    for (LoggedCall call; words.next(call);) ++at;
    out = std::max(out, at);
  }
  return out;
}

// ---- tables ----

uint64_t Cursor::consumed(const Chunk& c) const {
  const auto known = consumed_.find(c.offset);
  return known == consumed_.end() ? 0 : known->second;
}

void Cursor::read_tables(const std::vector<Chunk>& chunks, CursorSink& sink) {
  for (const Chunk& c : chunks) {
    if (c.type != ChunkType::kTables || damage_.contains("a table is damaged")) continue;
    const uint64_t from = consumed(c), end = std::min(c.used, c.bytes - sizeof(Chunk));
    if (end <= from) continue;
    read_records(file_.read_at(c.offset + sizeof(Chunk) + from, end - from), sink);
    consumed_[c.offset] = end;
  }
}

void Cursor::read_records(std::string_view bytes, CursorSink& sink) {
  for (uint64_t at = 0; at + sizeof(Record) <= bytes.size();) {
    const auto r = load<Record>(bytes, at);
    at += sizeof(Record);
    const uint64_t known = tables_.unique.signatures().size();
    const std::string_view record =
        bytes.substr(at, std::min<uint64_t>(r.bytes, bytes.size() - at));
    if (r.bytes == 0 || record.size() < r.bytes || checksum32(record) != r.check ||
        !tables_.read(record, header_.rank, tables_of_)) {
      damage_.insert("a table is damaged");
      return;
    }
    at += padded(r.bytes);
    if (record[0] == static_cast<char>(RecordKind::kRunEnd)) continue;  // the state has it
    if (record[0] != static_cast<char>(RecordKind::kSignature)) {
      sink.table(record);
    } else if (tables_.unique.signatures().size() > known) {
      std::string unique(1, record[0]);
      unique += tables_.unique.signatures()[known];
      sink.table(unique);
    }
  }
}

// ---- statistics ----

void Cursor::add_stats(const Moment& m) {
  for (const Piece& p : m.stats) {
    Stats s;
    s.piece = &p;
    base::ByteReader in(sealed(p));
    if (!read_head(in, s)) continue;
    // Of calls that a part has by now.
    if (p.chunk.position == 0 && s.begin < threads_[p.chunk.owner].of_parts.calls) continue;
    // A checkpoint that is being made writes its statistics first: those of the one before it hold
    // until its calls are there.
    const auto reach = m.reach.find(p.chunk.owner);
    if (p.chunk.position == 0 && reach != m.reach.end() && s.covered.calls > reach->second)
      continue;
    if (!add_stats_of(p, s, in)) damage_.insert(of_thread(p.chunk.owner) + ": bad statistics");
  }
  // Where a part has taken the place of a thread's statistics there is none until the next
  // checkpoint.
  for (auto& [owner, t] : threads_) {
    if (t.stats_offset == 0 || m.stats_there.contains({t.stats_offset, t.stats_generation}))
      continue;
    if (t.covered.calls > t.of_parts.calls) continue;
    t.first_calls = t.others = t.gaps = {};
    t.stats_offset = 0;
  }
}

bool Cursor::add_stats_of(const Piece& p, Stats s, base::ByteReader in) {
  Thread& t = threads_[p.chunk.owner];
  StatList first_calls, others, gaps;
  const bool is_good = read_list(in, first_calls) && read_list(in, others) && read_list(in, gaps);
  if (p.chunk.position != 0) {
    parts_.insert(p.chunk.offset);
    if (!is_good) return false;
    if (!first_calls.all.empty() && first_calls_.insert(first_calls.first).second)
      add_list(first_calls, of_parts_);
    add_list(others, of_parts_);
    add_list(gaps, gaps_of_parts_);
    if (s.covered.calls >= t.of_parts.calls) t.of_parts = s.covered;
  } else {
    t.stats_offset = p.chunk.offset;
    t.stats_generation = p.chunk.generation;
    if (!is_good) return false;
    t.first_calls = std::move(first_calls);
    t.others = std::move(others);
    t.gaps = std::move(gaps);
  }
  if (s.covered.calls < t.covered.calls) return true;
  t.covered = s.covered;
  // A checkpoint covers all calls that its log had: what was counted of the log is in it.
  t.behind.clear();
  t.gaps_behind.clear();
  t.in_mpi_behind_ns = 0;
  return true;
}

void Cursor::add_list(const StatList& list, std::deque<DurationStats>& to) const {
  const std::vector<uint32_t>& number_of = tables_.unique.numbers();
  if (to.size() < tables_.unique.signatures().size()) to.resize(tables_.unique.signatures().size());
  for (uint64_t i = 0; i < list.all.size() && list.first + i < number_of.size(); ++i)
    add_durations(to[number_of[list.first + i]], list.all[i]);
}

void Cursor::sum_up() {
  const bool has_gaps = tables_of_.text.contains("gaps");
  durations_ = of_parts_;
  gaps_ = has_gaps ? gaps_of_parts_ : std::deque<DurationStats>();
  const uint64_t signatures = tables_.unique.signatures().size();
  durations_.resize(signatures);
  if (has_gaps) gaps_.resize(signatures);
  std::set<uint64_t> seen = first_calls_;
  for (const auto& [owner, t] : threads_) {
    if (!t.first_calls.all.empty() && seen.insert(t.first_calls.first).second)
      add_list(t.first_calls, durations_);
    add_list(t.others, durations_);
    for (const auto& [terminal, d] : t.behind) add_durations(durations_[terminal], d);
    if (!has_gaps) continue;
    add_list(t.gaps, gaps_);
    for (const auto& [terminal, d] : t.gaps_behind) add_durations(gaps_[terminal], d);
  }
}

// ---- calls ----

// Those that the log has no longer, out of the grammars of checkpoints.
void Cursor::catch_up(uint32_t owner, Thread& t, const Moment& m, CursorSink& sink) {
  bool seen = false;
  const std::vector<uint32_t>& number_of = tables_.unique.numbers();
  const std::vector<Base> bases = bases_of(m.bases, owner, &seen);
  if (m.wants_snapshot.contains(owner)) {
    grammar::Concatenation whole;
    const uint64_t length = add_bases(bases, number_of, whole);
    if (length > t.calls) {
      const grammar::Grammar all = whole.finish();
      if (sink.snapshot(owner, length, all)) {
        grammar::TerminalCursor at(all);
        at.seek(length - 1);
        t.last = at.next();
        t.calls = length;
        return;
      }
    }
  }
  Batch batch(owner, sink);
  for (const Base& b : bases) {
    if (b.first > t.calls || b.end <= t.calls) continue;
    const auto g = grammar_of(b, number_of);
    if (!g) continue;
    grammar::TerminalCursor at(*g);
    at.seek(t.calls - b.first);
    while (!at.at_end()) batch.add(t.last = at.next());
    t.calls = b.end;
  }
}

// What the log has behind the calls that are there. False: the rest makes no sense.
bool Cursor::take_log(uint32_t owner, Thread& t, const LogPart& log, CursorSink& sink) {
  const Chunk& c = log.chunk;
  const std::vector<uint32_t>& number_of = tables_.unique.numbers();
  const bool has_gaps = tables_of_.text.contains("gaps");
  uint64_t at = log.from == 0 ? c.position : t.calls;
  if (at > t.calls) return false;
  t.log_offset = c.offset;
  t.log_position = c.position;
  t.log_byte = log.from;
  Batch batch(owner, sink);
  LogWords words(log.words);
  for (LoggedCall call; words.next(call);) {
    const uint64_t written = uint64_t{c.first_terminal} + call.index;
    if (written >= number_of.size() || t.calls >= kMaxCalls) return false;
    t.log_byte = log.from + words.position();
    if (at++ < t.calls) continue;
    t.last = number_of[written];
    t.last_ticks = call.ticks;
    const bool is_covered = t.calls < t.covered.calls;
    ++t.calls;
    batch.add(t.last);
    if (is_covered) continue;
    const uint64_t ns = to_ns(header_, call.ticks);
    add_duration(t.behind[t.last], ns);
    if (has_gaps) add_duration(t.gaps_behind[t.last], to_ns(header_, call.gap));
    t.in_mpi_behind_ns += ns;
  }
  return true;
}

void Cursor::add_calls(uint32_t owner, const LocationState& state, Moment& m, CursorSink& sink) {
  Thread& t = threads_[owner];
  const auto logs = m.logs.find(owner);
  if (logs != m.logs.end()) {
    if (logs->second.front().chunk.position > t.calls) catch_up(owner, t, m, sink);
    for (const LogPart& log : logs->second) {
      if (take_log(owner, t, log, sink)) continue;
      damage_.insert(of_thread(owner) + ": its log is damaged");
      break;
    }
    if (m.reach[owner] > t.calls) catch_up(owner, t, m, sink);
    // The last call is in the log unless a checkpoint has come behind it.
    t.last_is_in_log = t.last_is_in_log && t.calls > t.covered.calls;
    for (const LogPart& log : logs->second)
      t.last_is_in_log = t.last_is_in_log || t.calls > log.chunk.position;
  }
  add_progress(owner, t, state);
}

// As the reader of a whole file has them: read.cc.
void Cursor::add_progress(uint32_t owner, const Thread& t, const LocationState& state) {
  const uint64_t begin = header_.init_ticks;
  uint64_t last = state.entered_ticks;
  if (state.open_call == 0)
    last = t.last_is_in_log ? state.entered_ticks + t.last_ticks
                            : std::max(t.covered.last_end_ticks, state.entered_ticks);
  const uint64_t before = t.covered.last_end_ticks != 0 ? t.covered.last_end_ticks : begin;
  const uint64_t since = last > before ? to_ns(header_, last - before) : 0;
  totals_.in_mpi_ns += t.covered.in_mpi_ns + t.in_mpi_behind_ns;
  totals_.outside_ns +=
      t.covered.outside_ns + (since > t.in_mpi_behind_ns ? since - t.in_mpi_behind_ns : 0);
  if (last > begin) duration_ns_ = std::max(duration_ns_, to_ns(header_, last - begin));
  Progress p;
  p.thread = owner;
  p.calls = t.calls;
  p.open_call = state.open_call;
  p.held_calls = state.held_calls;
  if (t.last != UINT32_MAX) {
    base::ByteReader in(tables_.unique.signatures()[t.last]);
    p.last_call = static_cast<uint32_t>(in.varint());
  }
  p.last_time_ns = last > header_.opened_ticks
                       ? header_.opened_realtime_ns + to_ns(header_, last - header_.opened_ticks)
                       : header_.opened_realtime_ns;
  progress_.push_back(p);
}

}  // namespace refrain::format::spool
