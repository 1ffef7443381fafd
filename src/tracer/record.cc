#include "tracer/record.h"

#include <time.h>
#include <unistd.h>

#include <bit>
#include <cstdio>
#include <cstring>

#include "real_functions.h"
#include "tracer/control.h"
#include "tracer/location.h"

namespace refrain::tracer {

namespace {

constexpr const char* kRecorder = "refrain 0.1.0";

// Ticks -> nanoseconds. `histogram` counts by log2(ticks).
void add_in_ns(const Process& p, const TerminalStats& s, const uint32_t* histogram,
               format::DurationStats& out) {
  if (s.count == 0) return;
  const uint64_t min_ns = p.clock.to_ns(s.min_ticks), max_ns = p.clock.to_ns(s.max_ticks);
  if (out.count == 0 || min_ns < out.min_ns) out.min_ns = min_ns;
  if (out.count == 0 || max_ns > out.max_ns) out.max_ns = max_ns;
  out.count += s.count;
  const double scale = p.clock.use_counter ? p.clock.ns_per_tick : 1.0;
  out.sum_ns += static_cast<double>(s.sum_ticks) * scale;
  const auto bucket = [](uint64_t ns) { return static_cast<size_t>(std::bit_width(ns | 1) - 1); };
  // A bucket of ticks goes where its geometric middle lies, and never beyond the extremes.
  constexpr double kMiddle = 1.4142135623730951;
  for (int b = 0; b < TerminalStats::kBuckets; ++b) {
    if (histogram[b] == 0) continue;
    auto ns = static_cast<uint64_t>(static_cast<double>(uint64_t{1} << b) * kMiddle * scale);
    if (ns < min_ns) ns = min_ns;
    if (ns > max_ns) ns = max_ns;
    out.histogram.add(bucket(ns), histogram[b]);
  }
}

format::DurationStats durations(const Process& p, uint32_t terminal) {
  format::DurationStats out;
  uint32_t first[TerminalStats::kBuckets] = {};
  first[TerminalStats::bucket(p.stats[terminal].min_ticks)] = 1;
  add_in_ns(p, p.stats[terminal], first, out);
  for (const Location* l : p.locations)
    if (terminal < l->memos.size() && l->memos[terminal] != nullptr)
      add_in_ns(p, l->memos[terminal]->stats, l->memos[terminal]->histogram, out);
  return out;
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

std::string own_path() {
  char path[4096];
  const ssize_t n = readlink("/proc/self/exe", path, sizeof path);
  return n > 0 ? std::string(path, static_cast<size_t>(n)) : std::string();
}

void describe(const Process& p, format::RankRecord& r) {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  r.host = host;
  if (p.rank != 0) return;  // the lowest rank's words count
#ifdef OPEN_MPI
  r.text["mpi"] = "openmpi";
#else
  r.text["mpi"] = "mpich";
#endif
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  REFRAIN_REAL(PMPI_Get_library_version)(version, &length);
  r.text["mpi_version"] = first_line(version, ',');
  r.text["program"] = p.options.program.empty() ? own_path() : p.options.program;
  r.text["command"] = p.options.command.empty() ? r.text["program"] : p.options.command;
  r.text["recorder"] = kRecorder;
  r.text["timing"] = "stats";
  if (!p.options.filter.empty()) r.text["filter"] = p.options.filter;
  char cwd[4096];
  if (getcwd(cwd, sizeof cwd) != nullptr) r.text["working_directory"] = cwd;
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const auto ran_s = static_cast<time_t>(r.duration_ns / 1000000000u);
  const time_t began = now.tv_sec - ran_s;
  tm utc{};
  char text[32];
  if (gmtime_r(&began, &utc) != nullptr && std::strftime(text, sizeof text, "%FT%TZ", &utc) > 0)
    r.text["started"] = text;
}

}  // namespace

format::RankRecord make_record(Process& p) {
  format::RankRecord r;
  r.rank = static_cast<uint64_t>(p.rank);
  r.definitions = p.definitions;
  for (uint32_t t = 0; t < p.signatures.size(); ++t) {
    r.signatures.emplace_back(p.signatures.at(t));
    r.durations.push_back(durations(p, t));
  }
  for (const Location* l : p.locations) {
    if (l->grammar.length() == 0) continue;
    r.threads.push_back({l->thread, l->grammar.snapshot()});
    r.totals.in_mpi_ns += p.clock.to_ns(l->in_mpi_ticks);
    r.totals.outside_ns += p.clock.to_ns(l->outside_ticks());
  }
  r.duration_ns = p.clock.to_ns(p.clock.ticks() - p.init_ticks);
  r.losses = p.losses;
  for (const Location* l : p.locations)
    if (l->refused_calls > 0)
      r.losses.push_back({"out_of_memory", l->refused_calls, p.rank, "grammar"});
  add_left_out(r.losses, p.rank);
  describe(p, r);
  return r;
}

void complain(const Process& p, const char* what) {
  std::fprintf(stderr, "refrain: rank %d: %s; the program continues\n", p.rank, what);
}

}  // namespace refrain::tracer
