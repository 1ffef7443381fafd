#include "tracer/finish/record.h"
#include "tracer/calls/location_record.h"
#include "tracer/finish/unseen.h"
#include "tracer/startup/run_text.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <utility>

#include "format/merge/unique.h"
#include "grammar/fold.h"
#include "tracer/calls/forwarded_functions.h"
#include "tracer/calls/posix_calls.h"
#include "tracer/filter/control.h"
#include "tracer/filter/size_filter.h"
#include "tracer/spool/spool.h"
#include "tracer/startup/cores.h"
#include "tracer/startup/spawned.h"
#include "tracer/state/abandon.h"
#include "tracer/state/gap_log.h"
#include "tracer/state/location.h"
#include "tracer/state/memory.h"
#include "tracer/state/peers.h"
#include "tracer/times/call_times.h"
#include "tracer/times/time_log.h"

namespace refrain::tracer {

namespace {

[[maybe_unused]] format::OwnCost own_cost(const Process& p, uint64_t begin_ticks) {
  const uint64_t bytes = most_memory() + (p.spool != nullptr ? p.spool->most_mapped() : 0);
  uint64_t ticks = p.clock.ticks() - begin_ticks;
  for (const Location* l : p.locations) ticks += l->own_time.total(calls_of(*l));
  return {bytes, p.clock.to_ns(ticks)};
}

// All signatures, each once; what is returned is the index there by terminal, empty where that is
// the terminal itself.
base::Result<std::vector<uint32_t>> take_signatures(Process& p, format::ByteStrings& to) {
  InternTable& last = p.signatures;
  if (p.first_terminal == 0) {
    to.reserve(last.size(), last.total_bytes());
    for (uint32_t i = 0; i < last.size(); ++i) to.push_back(last.at(i));
    last.clear();
    return std::vector<uint32_t>();
  }
  format::UniqueSignatures all;
  bool good = p.spool != nullptr && p.spool->read_signatures(p.first_terminal, all);
  for (uint32_t i = 0; i < last.size() && good; ++i) good = all.add(last.at(i));
  last.clear();
  if (!good) return base::fail("cannot read back what it had in the spool; its calls are lost");
  to = all.take();
  return all.numbers();
}

void take_durations(Process& p, const std::vector<uint32_t>& number_of, format::RankRecord& r) {
  const auto at = [&](uint32_t terminal) {
    return number_of.empty() ? terminal : number_of[terminal];
  };
  bool has_gaps = p.options.gaps;
  for (const Location* l : p.locations)
    has_gaps = has_gaps && l->gaps != nullptr && l->gaps->is_whole();
  if (has_gaps) r.gaps.resize(r.signatures.size());
  const bool is_listed = number_of.empty();
  if (is_listed) {
    list_calls(p, r.signatures.size(), r.listed_durations);
  } else {
    r.durations.resize(r.signatures.size());
    if (p.spool != nullptr) p.spool->read_durations(number_of, r.durations, r.gaps);
    for (uint32_t i = 0; i < p.first_ticks.size(); ++i)
      add_first_call(p, i, r.durations[at(p.first_terminal + i)]);
  }
  std::vector<uint64_t>().swap(p.first_ticks);
  for (Location* l : p.locations) {
    for (uint32_t i = 0; !is_listed && i < l->memos.size(); ++i)
      add_calls(*l, i, r.durations[at(l->first_terminal + i)]);
    l->memos.clear([](RequestEntry&) {});
    if (!has_gaps) continue;
    for (uint32_t i = 0; i < l->gaps->size(); ++i)
      add_gaps(*l, i, r.gaps[at(l->first_terminal + i)]);
    l->gaps->clear();
  }
}

// Of the common clock, as the gaps are that pieces lie in: times of calls are kept at a rate that
// was not well known yet, which the clock points set right.
double common_ns_per_tick(const Process& p) {
  const double local = p.times->ns_per_tick(p);
  const std::vector<format::ClockPoint>& points = p.times->points();
  if (points.size() < 2) return local;
  const auto local_ns = static_cast<double>(points.back().local_ns - points[0].local_ns);
  const auto common_ns = static_cast<double>(points.back().common_ns - points[0].common_ns);
  return common_ns > 0 && local_ns > 0 ? local * common_ns / local_ns : local;
}

// Where times of single calls show them.
void add_pieces(const Location& l, std::vector<format::OwnWork>& to) {
  const double ns_per_tick = common_ns_per_tick(*l.process);
  format::OwnWork work;
  work.rank = static_cast<uint64_t>(l.process->rank);
  work.thread = l.thread;
  for (const OwnTime::Piece& piece : l.own_time.pieces())
    work.pieces.push_back(
        {piece.call, static_cast<uint64_t>(static_cast<double>(piece.ticks) * ns_per_tick)});
  if (!work.pieces.empty()) to.push_back(std::move(work));
}

void add_totals(const Location& l, format::RankRecord& r) {
  const Clock& clock = l.process->clock;
  const uint64_t outside = l.outside_ticks(), own = std::min(l.own_time.span(), outside);
  r.totals.in_mpi_ns += clock.to_ns(l.in_mpi_ticks);
  r.totals.outside_ns += clock.to_ns(outside - own);
  r.totals.own_ns += clock.to_ns(own);
  if (l.times != nullptr) add_pieces(l, r.own_work);
}

void take_calls(Process& p, const std::vector<uint32_t>& number_of, format::RankRecord& r) {
  for (Location* l : p.locations) {
    if (calls_of(*l) == 0) continue;
    uint64_t in_spool = 0, at_end = 0;
    r.threads.push_back({l->thread, p.spool != nullptr
                                        ? p.spool->whole_grammar(*l, number_of, &in_spool, &at_end)
                                        : last_grammar(*l, &at_end)});
    if (in_spool + at_end > 0 && l->times != nullptr) l->times->drop();
    if (l->times != nullptr && p.first_terminal == 0)
      l->times->end(r.threads.back().grammar, p.signatures);
    if (in_spool > 0) r.losses.push_back({"part_lost", in_spool, p.rank, "a part in the spool"});
    if (at_end > 0) r.losses.push_back({"out_of_memory", at_end, p.rank, "the last calls"});
    add_totals(*l, r);
  }
}

// All that have times will have them when others wait for them.
void flush_times(Process& p) {
  for (Location* l : p.locations) {
    if (l->times == nullptr) continue;
    l->times->flush(*l);
    if (p.spool != nullptr && l->times->matcher() == nullptr && !p.spool->has_times(*l))
      l->times->drop();
    if (l->times->calls() > calls_of(*l)) l->times->drop();
  }
}

void add_missing_times(const Process& p, std::vector<format::LossRecord>& losses) {
  if (p.times == nullptr) return;
  uint64_t missing = 0;
  for (const Location* l : p.locations)
    missing += calls_of(*l) - (l->times != nullptr ? l->times->calls() : 0);
  if (missing > 0)
    losses.push_back({"times_missing", missing, p.rank,
                      p.times->plain().on && !p.times->plain().write
                          ? "thrown away: --no-write"
                          : "no memory, no spool, or a late analyser (--live-policy drop)"});
}

void add_calls_without_record(Process& p, std::vector<format::LossRecord>& losses) {
  if (const uint64_t n = p.unrecorded_calls.load(); n > 0)
    losses.push_back({"out_of_memory", n, p.rank, "recorder"});
  for (const Location* l : p.locations)
    if (l->refused_calls > 0)
      losses.push_back({"out_of_memory", l->refused_calls, p.rank, "grammar"});
  add_left_out(losses, p.rank);
  add_forwarded(losses, p.rank);
  for (const std::string& name : functions_without_wrapper())
    losses.push_back({"not_seen", 0, p.rank, name + ": newer than the recorder"});
}

}  // namespace

void add_late_losses(Process& p) {
  std::vector<format::LossRecord> losses;
  add_calls_without_record(p, losses);
  if (p.sink == nullptr) return;
  for (const format::LossRecord& l : losses)
    p.sink->loss(l.reason.c_str(), l.calls, l.detail.c_str());
  std::map<std::string, std::string> text;
  add_spawned(text);
  for (const auto& [key, value] : text) p.sink->text(key, value);
}

void tell_run_end([[maybe_unused]] Process& p, [[maybe_unused]] const format::RankRecord& record) {
#ifndef REFRAIN_SMPI  // it has no spool
  if (p.spool != nullptr) p.spool->run_end(record);
#endif
}

void tell_run_end(Process& p) {
  const uint64_t begin = p.clock.ticks();
  format::RankRecord r;
  for (Location* l : p.locations) {
    l->own_time.end_span(calls_of(*l));
    if (calls_of(*l) > 0) add_totals(*l, r);
  }
  r.duration_ns = p.clock.to_ns(p.end_ticks - p.init_ticks);
  r.totals.switches = p.switches;
  r.cost = own_cost(p, begin);
  r.knows_cost = true;
  if (!p.options.totals) format::leave_out_totals(r);
  tell_run_end(p, r);
}

base::Result<format::RankRecord> make_record(Process& p) {
  [[maybe_unused]] const uint64_t begin = p.clock.ticks();
  format::RankRecord r;
  end_run(p);
  for (Location* l : p.locations) l->own_time.end_span(calls_of(*l));
  if (control().sizes != nullptr) control().sizes->held.flush_all(p);
  flush_times(p);
#ifndef REFRAIN_SMPI
  if (p.spool != nullptr) p.spool->last_statistics();
#endif
  r.rank = static_cast<uint64_t>(p.rank);
  r.definitions = std::move(p.definitions);
  r.losses = p.losses;
  // Grammars take more than signatures do, but where numbers change these come first.
  if (p.first_terminal == 0) take_calls(p, {}, r);
  auto number_of = take_signatures(p, r.signatures);
  if (!number_of.ok()) return number_of.error();
  if (p.first_terminal != 0) take_calls(p, *number_of, r);
  add_missing_times(p, r.losses);
  take_durations(p, *number_of, r);
  r.duration_ns = p.clock.to_ns(p.end_ticks - p.init_ticks);
  r.totals.switches = p.switches;
  r.place = p.place;
  r.posix = posix_uses(p);
  add_calls_without_record(p, r.losses);
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  r.host = host;
  r.text = run_text(p);
  if (peers().mine != 0)  // the lowest rank's words count, but for what each has of its own
    r.text = {{"program", r.text["program"]}, {"command", r.text["command"]}};
  add_spawned(r.text);
#ifndef REFRAIN_SMPI  // its ranks share one memory, and its clock stands still while we work
  r.cost = own_cost(p, begin);
  r.knows_cost = true;
#endif
  if (!p.options.totals) format::leave_out_totals(r);
  return r;
}

}  // namespace refrain::tracer
