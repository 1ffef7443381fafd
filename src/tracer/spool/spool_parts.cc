// What is too large to stay in memory: into the file, and back at the end.
#include <algorithm>
#include <cstring>

#include "format/codes/checksum.h"
#include "format/merge/duration_bytes.h"
#include "grammar/concatenate.h"
#include "grammar/fold.h"
#include "grammar/rename.h"
#include "tracer/calls/location_record.h"
#include "tracer/calls/posix_calls.h"
#include "tracer/spool/spool.h"
#include "tracer/state/gap_log.h"
#include "tracer/state/in_order.h"
#include "tracer/state/keep_errno.h"
#include "tracer/state/location.h"
#include "tracer/state/memory.h"
#include "tracer/state/process.h"

namespace refrain::tracer {

namespace spool = format::spool;
using spool::Chunk;
using spool::ChunkType;

bool Spool::is_bounded() const { return process_.options.memory_bytes != SIZE_MAX; }

// `bytes`, or the share of the bound that there is; pages, because smaller ones are none.
uint64_t Spool::bounded_to(uint64_t bytes, uint64_t share) const {
  if (!is_bounded()) return bytes;
  return std::min(bytes, std::max(process_.options.memory_bytes / share, spool::kPageBytes));
}

// ---- into the file ----

// Other threads may be in the middle of a call that they count, whatever becomes of the file.
bool Spool::take_posix() {
  if (!counts_posix()) return true;
  const uint64_t bytes = format::kPosixFunctions * sizeof(format::PosixCounter);
  Chunk* const c = file_.add(ChunkType::kPosix, 0, bytes);
  if (c == nullptr) return false;
  file_.keep(c);
  keep_posix_in(reinterpret_cast<format::PosixCounter*>(c + 1));
  return true;
}

// With those of first calls, which are counted apart, for all locations together: the first
// location takes them in, or the one that ends the tables.
std::string Spool::stats_of(const SpoolThread& t, bool with_first_calls) {
  const Location& l = *t.location;
  base::ByteWriter out;
  out.put_varint(calls_of(l));
  out.put_varint(t.memos_from);
  out.put_varint(process_.clock.to_ns(l.in_mpi_ticks));
  out.put_varint(process_.clock.to_ns(l.outside_ticks()));
  out.put_varint(l.last_end_ticks);
  const size_t first_calls = with_first_calls ? process_.first_ticks.size() : 0;
  out.put_varint(process_.first_terminal);
  out.put_varint(first_calls);
  for (uint32_t i = 0; i < first_calls; ++i) {
    format::DurationStats d;
    add_first_call(process_, i, d);
    format::put(out, d);
  }
  out.put_varint(l.first_terminal);
  out.put_varint(l.memos.size());
  for (uint32_t i = 0; i < l.memos.size(); ++i) {
    format::DurationStats d;
    add_calls(l, i, d);
    format::put(out, d);
  }
  const uint32_t gaps = l.gaps != nullptr ? l.gaps->size() : 0;
  out.put_varint(l.first_terminal);
  out.put_varint(gaps);
  for (uint32_t i = 0; i < gaps; ++i) {
    format::DurationStats d;
    add_gaps(l, i, d);
    format::put(out, d);
  }
  return out.take();
}

void Spool::learn_rate() {
  process_.clock.refine();
  keep_rate();
}

void Spool::keep_rate() {
  if (process_.clock.use_counter) file_.header()->ns_per_tick = process_.clock.ns_per_tick;
}

bool Spool::write_stats(SpoolThread& t) {
  const Location& l = *t.location;
  return seal(t.stats, ChunkType::kStats, l.thread, 0, stats_of(t, l.thread == 0));
}

// Its generation comes last: it makes the rest valid.
void Spool::fill(Chunk& c, SpoolThread::Pair& pair, uint64_t position, std::string_view bytes) {
  std::memcpy(data_of(&c), bytes.data(), bytes.size());
  c.position = position;
  c.used = bytes.size();
  c.checksum = format::checksum32(bytes);
  in_order();
  c.generation = ++pair.generation;
  in_order();
}

// A chunk that is never replaced, instead of one of the pair.
Chunk* Spool::add_part(ChunkType type, SpoolThread::Pair& pair, uint32_t owner, uint64_t position,
                       std::string_view bytes) {
  Chunk* const c = file_.add(type, owner, bytes.size());
  if (c == nullptr) return nullptr;
  fill(*c, pair, position, bytes);
  return c;
}

void Spool::drop_pair(SpoolThread::Pair& pair) {
  for (Chunk*& c : pair.chunk) {
    if (c != nullptr) file_.drop(c);
    c = nullptr;
  }
}

bool Spool::finish_part(Location& l, uint32_t first_terminal, Part what) {
  const KeepErrno keep;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (stopped_ || l.spool.thread == nullptr) return false;
  const uint64_t length = l.grammar.length();
  if (what == Part::kGrammar && length == 0) return false;
  SpoolThread& t = *l.spool.thread;
  if (!memory_for(2 * l.grammar.memory_bytes() + 64 * process_.first_ticks.size())) return false;
  Chunk* stats = nullptr;
  learn_rate();
  if (what == Part::kGrammar) {
    if (!write_stats(t)) return false;
  } else {
    stats = add_part(ChunkType::kStats, t.stats, l.thread, 1, stats_of(t, what == Part::kTables));
    if (stats == nullptr) return false;
  }
  if (length > 0) {
    base::ByteWriter out;
    out.put_varint(l.spool.calls_before);
    out.put_varint(l.first_terminal);
    uint64_t written = 0;
    {
      // No snapshot: whatever happens, the grammar goes on from here or not at all.
      const grammar::Grammar grammar = l.grammar.finish();
      if (grammar::checked_length(grammar, &written) && written == length)
        grammar::write(grammar, out);
    }
    Chunk* const base = written == length
                            ? add_part(ChunkType::kBase, t.base, l.thread, calls_of(l), out.view())
                            : nullptr;
    if (base == nullptr) {
      if (stats != nullptr) file_.drop(stats);
      return false;
    }
    t.parts.push_back({base->offset, base->bytes, length});
    file_.release(base);
  }
  drop_pair(t.base);
  if (stats != nullptr) {
    t.stats_parts.push_back({stats->offset, stats->bytes, 0});
    file_.release(stats);
    drop_pair(t.stats);
    t.memos_from = calls_of(l);
  }
  clear_log(t, first_terminal);
  l.spool.calls_before += length;
  l.grammar = grammar::Builder(process_.options.grammar_bytes);
  return true;
}

// ---- and back ----

// What a chunk holds, in `bytes`; empty when it is not there.
std::string_view Spool::read_part(const SpoolThread::Part& part, std::string& bytes) {
  if (!file_.read_back(part.offset, part.bytes, bytes) || bytes.size() < sizeof(Chunk)) return {};
  Chunk c;
  std::memcpy(&c, bytes.data(), sizeof c);
  if (c.used > bytes.size() - sizeof c) return {};
  const std::string_view data = std::string_view(bytes).substr(sizeof c, c.used);
  const bool is_sealed = c.type == ChunkType::kBase || c.type == ChunkType::kStats;
  return is_sealed && format::checksum32(data) != c.checksum ? std::string_view() : data;
}

bool Spool::read_signatures(uint64_t count, format::UniqueSignatures& to) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<SpoolThread::Part> chunks = full_tables_;
  if (tables_ != nullptr) chunks.push_back({tables_->offset, tables_->bytes, 0});
  std::string bytes;
  for (const SpoolThread::Part& chunk : chunks) {
    const std::string_view data = read_part(chunk, bytes);
    for (uint64_t at = 0; at + sizeof(spool::Record) <= data.size() && to.terminals() < count;) {
      spool::Record r;
      std::memcpy(&r, data.data() + at, sizeof r);
      at += sizeof r;
      if (r.bytes == 0 || r.bytes > data.size() - at) return false;
      const std::string_view record = data.substr(at, r.bytes);
      at += spool::padded(r.bytes);
      if (record[0] != static_cast<char>(spool::RecordKind::kSignature)) continue;
      if (format::checksum32(record) != r.check || !to.add(record.substr(1))) return false;
    }
  }
  return to.terminals() == count;
}

namespace {

bool add_durations(base::ByteReader& in, const std::vector<uint32_t>& number_of,
                   std::deque<format::DurationStats>& to) {
  const uint64_t first = in.varint(), n = in.varint();
  for (uint64_t i = 0; i < n && in.ok(); ++i) {
    const format::DurationStats d = format::get_duration(in);
    if (first + i >= number_of.size()) return false;
    if (!to.empty()) format::add_durations(to[number_of[first + i]], d);
  }
  return in.ok();
}

}  // namespace

void Spool::read_durations(const std::vector<uint32_t>& number_of,
                           std::deque<format::DurationStats>& durations,
                           std::deque<format::DurationStats>& gaps) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::string bytes;
  for (const auto& t : threads_) {
    for (const SpoolThread::Part& part : t->stats_parts) {
      base::ByteReader in(read_part(part, bytes));
      for (int i = 0; i < 5; ++i) in.varint();
      if (in.ok() && add_durations(in, number_of, durations) &&
          add_durations(in, number_of, durations))
        add_durations(in, number_of, gaps);
    }
  }
}

grammar::Grammar Spool::whole_grammar(Location& l, const std::vector<uint32_t>& number_of,
                                      uint64_t* lost, uint64_t* lost_at_end) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto renamed = [&](grammar::Grammar g, uint64_t first) {
    // Without tables that began anew numbers are what they are.
    if (number_of.empty()) return g;
    return grammar::rename(std::move(g), [&](uint32_t id) { return number_of[first + id]; });
  };
  *lost = 0;
  grammar::Concatenation all;
  const SpoolThread* mine = nullptr;
  for (const auto& t : threads_)
    if (t->location == &l) mine = t.get();
  if (mine == nullptr || mine->parts.empty())
    return renamed(last_grammar(l, lost_at_end), l.first_terminal);
  std::string bytes;
  for (const SpoolThread::Part& part : mine->parts) {
    base::ByteReader in(read_part(part, bytes));
    in.varint();
    const uint64_t first = in.varint();
    const uint64_t end = number_of.empty() ? process_.signatures.size() : number_of.size();
    auto g = grammar::read(in, grammar::Limits{first < end ? end - first : 0});
    if (!g.ok())
      *lost += part.calls;
    else
      all.add(renamed(std::move(*g), first));
  }
  all.add(renamed(last_grammar(l, lost_at_end), l.first_terminal));
  return all.finish();
}

}  // namespace refrain::tracer
