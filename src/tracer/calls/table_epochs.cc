#include "tracer/calls/table_epochs.h"

#include <algorithm>

#include "tracer/requests/left_out.h"
#include "tracer/state/gap_log.h"
#include "tracer/state/location.h"
#include "tracer/state/memory.h"
#include "tracer/state/process.h"
#include "tracer/times/time_log.h"

namespace refrain::tracer {

namespace {

// Less than that is spent on moving parts about.
constexpr size_t kMinPart = 64 * 1024;
// Without a bound the tables ask before they grow by more; see memory.h.
constexpr size_t kSmall = 64 * 1024;
// No number of tables.
constexpr uint32_t kEnding = UINT32_MAX;

bool is_bounded(const Process& p) { return p.options.memory_bytes != SIZE_MAX; }

size_t held_by(const Process& p) {
  return held_memory() + (p.sink != nullptr ? p.sink->mapped() : 0);
}

// What stays in any case comes first: with a small bound there would be no room for anything else.
size_t end_of_tables(const Process& p) {
  const size_t bound = p.options.memory_bytes;
  return std::max(bound / 2, held_by(p) + std::max(bound / 4, kMinPart));
}

bool is_over(Process& p, size_t growth) {
  if (!p.initialized) return false;  // the spool is still to come
  if (p.tables_end == 0) p.tables_end = end_of_tables(p);
  return held_by(p) + growth > p.tables_end;
}

// The location has handed over its part.
void count_from(Location& l, uint32_t first_terminal) {
  Process& p = *l.process;
  {
    OwnLane own(*l.requests);
    l.memos.clear([&](RequestEntry& place) { own->unkeep(place); });
  }
  if (l.gaps != nullptr) l.gaps->clear();
  std::vector<uint32_t>().swap(l.pool_of_terminal);
  if (l.times != nullptr) l.times->flush(l);
  l.first_terminal = first_terminal;
  if (l.times != nullptr) l.times->number_anew(l);
  l.tables = p.tables;
}

bool begin_tables(Location& l) {
  Process& p = *l.process;
  const uint32_t next = p.first_terminal + p.signatures.size();
  if (p.sink == nullptr || next >= kLeftOutIndex) return false;
  if (!p.sink->finish_part(l, next, RecordSink::Part::kTables)) return false;
  p.first_terminal = next;
  p.table_begins.push_back(next);
  ++p.tables;
  p.signatures.clear();
  std::vector<uint64_t>().swap(p.first_ticks);
  count_from(l, next);
  const std::vector<bool> used = AllLanes(*l.requests).pools_in_use();
  p.request_pools.keep([&](uint32_t pool) { return pool < used.size() && used[pool]; });
  p.tables_end = end_of_tables(p);
  return true;
}

}  // namespace

void bound_memory(Process& p, uint64_t bytes) {
  p.options.memory_bytes = bytes;
  p.options.grammar_bytes = std::max(static_cast<size_t>(bytes / 4), kMinPart);
#ifndef REFRAIN_SMPI  // its ranks have no spool, and one memory
  p.asks_from = 0;
#endif
}

bool make_room(Location& l, size_t growth) {
  Process& p = *l.process;
  if (is_bounded(p) && p.asks_from == 0 && is_over(p, growth)) return begin_tables(l);
  return growth <= kSmall || memory_for(growth);
}

bool join_tables(Location& l) {
  Process& p = *l.process;
  if (l.tables == kEnding && l.first_terminal == p.first_terminal) return begin_tables(l);
  if (p.sink == nullptr || !p.sink->finish_part(l, p.first_terminal, RecordSink::Part::kLocation))
    return false;
  count_from(l, p.first_terminal);
  return true;
}

void note_memo(Location& l) {
  if (is_over(*l.process, 0)) l.tables = kEnding;
}

}  // namespace refrain::tracer
