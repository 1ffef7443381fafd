#include "tracer/calls/append_call.h"

#include <vector>

#include "tracer/calls/table_epochs.h"
#include "tracer/state/abandon.h"
#include "tracer/state/gap_log.h"
#include "tracer/state/location.h"
#include "tracer/state/process.h"
#include "tracer/state/slow_path_reasons.h"
#include "tracer/times/time_log.h"

namespace refrain::tracer {

namespace {

template <class T>
size_t next_growth(const std::vector<T>& v) {
  return v.size() == v.capacity() ? 2 * v.size() * sizeof(T) : 0;
}

uint32_t no_memory() {
  set_slow_path_reason(slow_path_reasons::kOutOfMemory, true);
  return InternTable::kMissing;
}

// Other calls than that which made the terminal.
void count_duration(Location& l, uint32_t terminal, uint64_t ticks) {
  CallMemo* const m = l.memos.make(terminal);
  if (m == nullptr) return;
  m->count_one(ticks);
  if (l.process->is_bounded()) [[unlikely]]
    note_memo(l);
}

// The lock is held. No memory, or none that we may have: what the grammar has goes to the spool,
// and a new one begins.
void extend_elsewhere(Location& l, uint32_t terminal) {
  RecordSink* const sink = l.process->sink;
  if (sink != nullptr && sink->finish_part(l, l.first_terminal, RecordSink::Part::kGrammar) &&
      l.grammar.append(terminal))
    return;
  // The spool counts calls as the grammar does, so it ends here, too.
  if (l.refused_calls++ > 0) return;
  if (l.times != nullptr) l.times->stop();  // later ones would stand at the wrong calls
  if (sink != nullptr) sink->loss("out_of_memory", 0, "grammar");
  l.spool.detach();
}

}  // namespace

void append_to_grammar(Location& l, uint32_t terminal) {
  if (l.grammar.append(terminal)) return;
  const Process::Guard writing(*l.process, !l.process->is_bounded());
  extend_elsewhere(l, terminal);
}

namespace {

// The lock is held. The first call of a terminal is counted in a small table, for programs whose
// calls never come back.
uint32_t add_signature(Location& l, std::string_view bytes, uint32_t hash, uint64_t ticks) {
  Process& p = *l.process;
  const size_t growth = p.signatures.next_growth(bytes.size()) + next_growth(p.first_ticks);
  if (growth > p.asks_from && !make_room(l, growth)) [[unlikely]]
    return no_memory();
  bool is_new = false;
  const uint32_t terminal = p.make_terminal(bytes, hash, &is_new);
  if (!l.grammar.append(terminal)) extend_elsewhere(l, terminal);
  if (is_new)
    p.first_ticks[terminal] = ticks;
  else
    count_duration(l, terminal, ticks);
  return terminal;
}

}  // namespace

// In a loop the grammar knows which call comes next: compare before hashing.
uint32_t extend_grammar(Location& l, std::string_view bytes, uint64_t ticks) {
  Process& p = *l.process;
  // Tables that may begin anew have no readers beside their writer.
  const bool bounded = p.is_bounded();
  const Process::Guard reading(p, bounded);
  if (bounded && l.tables != p.tables && !join_tables(l)) [[unlikely]]
    return no_memory();
  const InternTable& signatures = p.signatures;
  const uint64_t guess = l.grammar.expected();
  if (guess < signatures.size() && signatures.at(static_cast<uint32_t>(guess)) == bytes) {
    l.grammar.append_expected();
    count_duration(l, static_cast<uint32_t>(guess), ticks);
    return static_cast<uint32_t>(guess);
  }
  if (l.memos.next_growth() > p.asks_from && !make_room(l, l.memos.next_growth())) [[unlikely]]
    return no_memory();
  const uint32_t hash = InternTable::hash_of(bytes);
  const uint32_t terminal = signatures.find(bytes, hash);
  if (terminal == InternTable::kMissing) {
    const Process::Guard writing(p, !bounded);
    return add_signature(l, bytes, hash, ticks);
  }
  append_to_grammar(l, terminal);
  count_duration(l, terminal, ticks);
  return terminal;
}

uint64_t count_gap(Location& l, uint32_t terminal, bool is_outermost, uint64_t begin,
                   uint64_t end) {
  GapLog& gaps = *l.gaps;
  const uint64_t gap = is_outermost ? gaps.before(begin) : 0;
  if (is_outermost) gaps.idle_from(end);
  if (!gaps.count(terminal, gap)) [[unlikely]]
    l.process->lose("gaps_missing", "no memory for the time before calls");
  return gap;
}

void append_held(Location& l, const HeldSignature& call, uint64_t begin, uint64_t ticks) {
  Process& p = *l.process;
  uint32_t terminal = InternTable::kMissing;
  if (!has_slow_path_reason(slow_path_reasons::kOutOfMemory))
    terminal = extend_grammar(l, p.left_out.at(call.signature), ticks);
  if (terminal == InternTable::kMissing) {
    if (p.unrecorded_calls.fetch_add(1) == 0) out_of_memory(p);
    return;
  }
  if (call.outermost) l.in_mpi_ticks += ticks;
  if (l.times != nullptr) l.times->push(l, terminal, call.call, begin, begin + ticks);
  uint64_t gap = SpoolLog::kNoGap;
  if (l.gaps != nullptr) gap = count_gap(l, terminal, call.outermost, begin, begin + ticks);
  l.spool.push(l, terminal, ticks, gap);
}

}  // namespace refrain::tracer
