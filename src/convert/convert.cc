#include "convert/convert.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <filesystem>
#include <utility>

#include "convert/job.h"
#include "convert/output_files.h"

namespace refrain::convert {
namespace {

// The package that this build lacks.
constexpr std::string_view kSqlite = REFRAIN_WITH_SQLITE ? "" : "libsqlite3-dev";
constexpr std::string_view kOtf2 = REFRAIN_WITH_OTF2 ? "" : "libopen-trace-format2-dev";
constexpr std::string_view kProtozero = REFRAIN_WITH_PROTOZERO ? "" : "libprotozero-dev";
#if !REFRAIN_WITH_SQLITE
constexpr auto write_sqlite = nullptr;
#endif
#if !REFRAIN_WITH_OTF2
constexpr auto write_otf2 = nullptr;
#endif
#if !REFRAIN_WITH_PROTOZERO
constexpr auto write_perfetto = nullptr;
#endif

struct Writer {
  Target target;
  std::string_view anchor;  // of a folder; empty: the output is a file
  Status (*write)(Job&);
};

const std::vector<Writer>& writers() {
  static const std::vector<Writer> kAll = {
      {{"csv", "one row a call, a column for each parameter (RFC 4180)", {}}, {}, write_csv},
      {{"sqlite", "an SQLite database: calls, signatures, profile, waits", kSqlite},
       {},
       write_sqlite},
      {{"otf2", "a folder in the Open Trace Format 2 (Vampir, Scalasca)", kOtf2},
       "traces.otf2",
       write_otf2},
      {{"perfetto", "Perfetto's protobuf trace (ui.perfetto.dev)", kProtozero}, {}, write_perfetto},
      {{"ti", "a folder for SimGrid: smpirun -replay OUT/trace.txt", {}}, "trace.txt", write_ti},
      {{"paraver", "Paraver's .prv, with .pcf and .row beside it", {}}, {}, write_paraver},
      {{"goal", "a graph of calc, send and recv for LogGOPSim", {}}, {}, write_goal},
  };
  return kAll;
}

}  // namespace

std::string_view name_of(TimesFrom times) {
  switch (times) {
    case TimesFrom::kTrace: return "trace";
    case TimesFrom::kBuilt: return "built";
    case TimesFrom::kNone: break;
  }
  return "none";
}

const std::vector<Target>& targets() {
  static const std::vector<Target> kAll = [] {
    std::vector<Target> all;
    for (const Writer& writer : writers()) all.push_back(writer.target);
    return all;
  }();
  return kAll;
}

Job::Job(const Trace& t, const Options& o, const Progress& progress, Outcome& outcome)
    : trace(t), options(o), out(outcome), sites(t, o.resolve), progress_(progress) {
  positions_.assign(static_cast<size_t>(trace.rank_count()), -1);
  const auto take = [&](Rank rank) {
    if (!trace.group_of(rank)) return;  // an incomplete trace lacks it
    positions_[static_cast<size_t>(rank)] = static_cast<int64_t>(ranks.size());
    ranks.push_back(rank);
    for (const Location& location : trace.locations(rank)) calls_ += location.calls;
  };
  if (options.ranks.empty())
    for (Rank rank = 0; rank < trace.rank_count(); ++rank) take(rank);
  else
    for (const Rank rank : options.ranks) take(rank);
  expect_passes(1);
}

int64_t Job::position(Rank rank) const {
  return rank >= 0 && static_cast<size_t>(rank) < positions_.size()
             ? positions_[static_cast<size_t>(rank)]
             : -1;
}

void give_back_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

std::string Job::folder() const {
  std::filesystem::path place(options.output);
  if (!place.has_filename()) place = place.parent_path();  // "folder/"
  return place.parent_path().string();
}

Result<Outcome> convert(const Trace& trace, const Options& options, const Progress& progress) {
  const Writer* writer = nullptr;
  for (const Writer& known : writers())
    if (known.target.name == options.target) writer = &known;
  if (writer == nullptr) return base::usage("no format '" + options.target + "' to convert to");
  if (!writer->target.missing.empty())
    return base::unsupported("this build of refrain cannot write " + options.target +
                             "; install the package " + std::string(writer->target.missing) +
                             " and build again");
  if (options.has_window && !trace.has_times())
    return base::usage(
        "the trace has no times of single calls: record with --timing exact or bins:0.02",
        trace.name());
  const Status free = check_output(options.output, options.force, writer->anchor);
  if (!free.ok()) return free.error();
  Outcome out;
  out.times = trace.has_times() ? TimesFrom::kTrace : TimesFrom::kBuilt;
  Job job(trace, options, progress, out);
  out.ranks = job.ranks.size();
  const Status written = writer->write(job);
  if (!written.ok()) return written.error();
  return out;
}

}  // namespace refrain::convert
