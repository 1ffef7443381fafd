#include "convert/convert.h"

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

// Beside the output.
std::string temporary_folder(const Options& options) {
  std::filesystem::path place(options.output);
  if (!place.has_filename()) place = place.parent_path();  // "folder/"
  return place.parent_path().string();
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
    : Scope(t, {o.ranks, o.from_ns, o.to_ns, o.memory, temporary_folder(o)}, progress, outcome),
      options(o),
      out(outcome),
      sites(t, o.resolve) {}

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
    return base::unsupported(
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
