#include "tracer/record.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <utility>

#include "format/merge/unique.h"
#include "grammar/fold.h"
#include "real_functions.h"
#include "tracer/abandon.h"
#include "tracer/built_with.h"
#include "tracer/control.h"
#include "tracer/cores.h"
#include "tracer/forwarded_call.h"
#include "tracer/location.h"
#include "tracer/memory.h"
#include "tracer/peers.h"
#include "tracer/size_filter.h"
#include "tracer/spawned.h"
#include "tracer/spool.h"
#include "tracer/spool_common.h"
#include "tracer/time_log.h"
#include "tracer/times.h"

namespace refrain::tracer {

namespace {

constexpr const char* kRecorder = "refrain 0.1.0";

// Ticks -> nanoseconds. `histogram` counts by log2(ticks).
void add_in_ns(const Process& p, const TerminalStats& s, const uint64_t* histogram,
               format::DurationStats& out) {
  if (s.count == 0) return;
  const uint64_t min_ns = p.clock.to_ns(s.min_ticks), max_ns = p.clock.to_ns(s.max_ticks);
  if (out.count == 0 || min_ns < out.min_ns) out.min_ns = min_ns;
  if (out.count == 0 || max_ns > out.max_ns) out.max_ns = max_ns;
  out.count += s.count;
  const double scale = p.clock.use_counter ? p.clock.ns_per_tick : 1.0;
  out.sum_ns += static_cast<double>(s.sum_ticks) * scale;
  // A bucket of ticks goes where its geometric middle lies, and never beyond the extremes.
  constexpr double kMiddle = 1.4142135623730951;
  for (int b = 0; b < TerminalStats::kBuckets; ++b) {
    if (histogram[b] == 0) continue;
    auto ns = static_cast<uint64_t>(static_cast<double>(uint64_t{1} << b) * kMiddle * scale);
    if (ns < min_ns) ns = min_ns;
    if (ns > max_ns) ns = max_ns;
    out.histogram.add(format::Histogram::bucket_of(ns), histogram[b]);
  }
}

std::string first_line(const char* text, char end) {
  const size_t n = std::strcspn(text, "\n");
  std::string s(text, n);
  const size_t cut = s.find(end);
  if (cut != std::string::npos) s.resize(cut);
  for (char& c : s)
    if (c == '\t') c = ' ';
  return s;
}

// gmtime_r() and strftime() would read the file of the time zone first.
std::string utc_text(time_t seconds) {
  const std::chrono::sys_seconds time{std::chrono::seconds(seconds)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02dZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()));
  return text;
}

std::string own_path() {
  char path[4096];
  const ssize_t n = readlink("/proc/self/exe", path, sizeof path);
  return n > 0 ? std::string(path, static_cast<size_t>(n)) : std::string();
}

}  // namespace

void add_first_call(const Process& p, uint32_t index, format::DurationStats& to) {
  const uint64_t ticks = p.first_ticks[index];
  if (ticks == Process::kNotCalled) return;
  // As add_in_ns() of one call, which there may be millions of.
  const uint64_t ns = p.clock.to_ns(ticks);
  if (to.count == 0 || ns < to.min_ns) to.min_ns = ns;
  if (to.count == 0 || ns > to.max_ns) to.max_ns = ns;
  ++to.count;
  to.sum_ns += static_cast<double>(ticks) * (p.clock.use_counter ? p.clock.ns_per_tick : 1.0);
  to.histogram.add(format::Histogram::bucket_of(ns), 1);
}

void add_calls(const Location& l, uint32_t index, format::DurationStats& to) {
  if (const CallMemo* memo = l.memos.find(index); memo != nullptr)
    add_in_ns(*l.process, memo->statistics(), memo->histogram, to);
}

std::map<std::string, std::string> run_text(const Process& p) {
  std::map<std::string, std::string> text;
  text["mpi"] = own_word();
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  REFRAIN_REAL(PMPI_Get_library_version)(version, &length);
  text["mpi_version"] = first_line(version, ',');
  if (!is_built_with_this())
    text["built_with"] = std::string(kBuiltWithName) + " " + kBuiltWithVersion;
  text["program"] = p.options.program.empty() ? own_path() : p.options.program;
  text["command"] = p.options.command.empty() ? text["program"] : p.options.command;
  text["recorder"] = kRecorder;
  text["timing"] = p.times != nullptr ? p.times->spec().to_string() : "stats";
  if (p.times != nullptr && p.times->segments() != nullptr) {  // `refrain recover` asks
    if (p.times->segment_source() != "loops") text["segments"] = p.times->segment_source();
    if (p.times->across_ranks() != "groups") text["across_ranks"] = p.times->across_ranks();
  }
  if (!p.options.filter.empty()) text["filter"] = p.options.filter;
  if (!p.options.totals) text["totals"] = "off";
  char cwd[4096];
  if (getcwd(cwd, sizeof cwd) != nullptr) text["working_directory"] = cwd;
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const auto ran_s = static_cast<time_t>(p.clock.ran_ns(p.init_ticks) / 1000000000u);
  text["started"] = utc_text(now.tv_sec - ran_s);
  return text;
}

namespace {

[[maybe_unused]] format::OwnCost own_cost(const Process& p, uint64_t begin_ticks) {
  const uint64_t bytes = most_memory() + (p.spool != nullptr ? p.spool->most_mapped() : 0);
  uint64_t ticks = p.clock.ticks() - begin_ticks;
  for (const Location* l : p.locations) ticks += l->own_time.total(calls_of(*l));
  return {bytes, p.clock.to_ns(ticks)};
}

}  // namespace

grammar::Grammar last_grammar(Location& l, uint64_t* lost) {
  const uint64_t calls = l.grammar.length();
  grammar::Grammar grammar = l.grammar.finish();
  uint64_t length = 0;
  if (!grammar::checked_length(grammar, &length)) {
    grammar = grammar::Grammar();
    length = 0;
  }
  *lost = calls - length;
  l.spool.calls_before += calls;
  l.grammar = grammar::Builder();
  return grammar;
}

namespace {

// All signatures, each once; what is returned is the index there by terminal, empty where that is
// the terminal itself.
base::Result<std::vector<uint32_t>> take_signatures(Process& p, format::ByteStrings& to) {
  InternTable& last = p.signatures;
  if (p.first_terminal == 0) {
    size_t bytes = 0;
    for (uint32_t i = 0; i < last.size(); ++i) bytes += last.at(i).size();
    to.reserve(last.size(), bytes);
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

void take_durations(Process& p, const std::vector<uint32_t>& number_of,
                    std::deque<format::DurationStats>& to) {
  const auto at = [&](uint32_t terminal) -> format::DurationStats& {
    return to[number_of.empty() ? terminal : number_of[terminal]];
  };
  if (p.spool != nullptr) p.spool->read_durations(number_of, to);
  for (uint32_t i = 0; i < p.first_ticks.size(); ++i)
    add_first_call(p, i, at(p.first_terminal + i));
  std::vector<uint64_t>().swap(p.first_ticks);
  for (Location* l : p.locations) {
    for (uint32_t i = 0; i < l->memos.size(); ++i) add_calls(*l, i, at(l->first_terminal + i));
    l->memos.clear([](RequestEntry&) {});
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
    r.totals.in_mpi_ns += p.clock.to_ns(l->in_mpi_ticks);
    const uint64_t outside = l->outside_ticks(), own = std::min(l->own_time.span(), outside);
    r.totals.outside_ns += p.clock.to_ns(outside - own);
    r.totals.own_ns += p.clock.to_ns(own);
    if (l->times != nullptr) add_pieces(*l, r.own_work);
  }
}

}  // namespace

namespace {

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
                      p.times->plain().on && !p.times->plain().write ? "thrown away: --no-write"
                                                                     : "no memory, or no spool"});
}

}  // namespace

base::Result<format::RankRecord> make_record(Process& p) {
  [[maybe_unused]] const uint64_t begin = p.clock.ticks();
  format::RankRecord r;
  end_run(p);
  for (Location* l : p.locations) l->own_time.end_span(calls_of(*l));
  if (control().sizes != nullptr) control().sizes->held.flush_all(p);
  flush_times(p);
  r.rank = static_cast<uint64_t>(p.rank);
  r.definitions = std::move(p.definitions);
  r.losses = p.losses;
  // Grammars take more than signatures do, but where numbers change these come first.
  if (p.first_terminal == 0) take_calls(p, {}, r);
  auto number_of = take_signatures(p, r.signatures);
  if (!number_of.ok()) return number_of.error();
  if (p.first_terminal != 0) take_calls(p, *number_of, r);
  add_missing_times(p, r.losses);
  r.durations.resize(r.signatures.size());
  take_durations(p, *number_of, r.durations);
  r.duration_ns = p.clock.to_ns(p.end_ticks - p.init_ticks);
  r.totals.switches = p.switches;
  r.place = p.place;
  if (const uint64_t n = p.unrecorded_calls.load(); n > 0)
    r.losses.push_back({"out_of_memory", n, p.rank, "recorder"});
  for (const Location* l : p.locations)
    if (l->refused_calls > 0)
      r.losses.push_back({"out_of_memory", l->refused_calls, p.rank, "grammar"});
  add_left_out(r.losses, p.rank);
  add_forwarded(r.losses, p.rank);
  for (const std::string& name : functions_without_wrapper())
    r.losses.push_back({"not_seen", 0, p.rank, name + ": newer than the recorder"});
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

void complain(const Process& p, const char* what) {
  std::fprintf(stderr, "refrain: rank %d: %s; the program continues\n", p.rank, what);
}

void out_of_memory(Process& p) {
  if (is_abandoned()) return;
  const Process::Guard guard(p);
  if (p.spool != nullptr) p.spool->loss("out_of_memory", 0, "recorder");
  complain(p, p.is_bounded() && p.spool == nullptr
                  ? "beyond --memory, and no spool to go to: its further calls are not recorded"
                  : "no memory: its further calls are not recorded");
}

}  // namespace refrain::tracer
