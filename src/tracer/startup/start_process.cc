#include "tracer/startup/start_process.h"

#include <unistd.h>

#include <cstdlib>
#include <string>

#include "base/byte_size.h"
#include "mpi_runtime/built_with.h"
#include "tracer/calls/table_epochs.h"
#include "tracer/filter/control.h"
#include "tracer/paths/path_check.h"
#include "tracer/state/process.h"
#include "tracer/state/slow_path_reasons.h"
#include "tracer/symbolic/buffers.h"
#include "tracer/times/call_times.h"
#include "tracer/times/segment_times.h"

namespace refrain::tracer {

namespace {

std::string environment(const char* name, const char* fallback) {
  const char* v = std::getenv(name);
  return v != nullptr && v[0] != '\0' ? v : fallback;
}

std::string absolute(const std::string& path) {
  if (!path.empty() && path[0] == '/') return path;
  char cwd[4096];
  return getcwd(cwd, sizeof cwd) != nullptr ? std::string(cwd) + "/" + path : path;
}

CallTimes* make_times(const format::TimeSpec& timing, const std::string& output) {
  const bool has_copy = timing.mode != format::TimeMode::kExact;
  auto* const times = new CallTimes(
      timing, has_copy ? environment("REFRAIN_EXACT_COPY", "") : std::string(),
      PlainSpec::from_environment(output), CallTimes::clock_interval_from_environment());
  if (timing.mode != format::TimeMode::kSegments) return times;
  const auto method = similarity::parse_method(timing.method);
  if (!method.ok()) return times;  // it has been asked
  const std::string source = environment("REFRAIN_SEGMENTS", "loops");
  const std::string across = environment("REFRAIN_ACROSS_RANKS", "groups");
  times->make_segments(
      new SegmentTimes(*method, format::source_of(source).value_or(format::SegmentSource::kLoops),
                       format::across_of(across).value_or(format::AcrossRanks::kGroups)),
      source, across);
  return times;
}

}  // namespace

void start_process(Process& p) {
  leave_if_other_mpi();
  if (environment("REFRAIN_RECORD", "1") == "0")
    return set_slow_path_reason(slow_path_reasons::kNotRecording, true);
  p.pid = static_cast<int>(getpid());
  p.options.output = absolute(environment("REFRAIN_OUTPUT", "run.rfn"));
  p.options.program = environment("REFRAIN_PROGRAM", "");
  p.options.command = environment("REFRAIN_COMMAND", "");
  p.options.quiet = environment("REFRAIN_QUIET", "0") != "0";
  p.options.totals = environment("REFRAIN_TOTALS", "on") != "off";
  p.options.gaps = environment("REFRAIN_GAPS", "0") != "0";
  p.options.call_path_depth =
      static_cast<uint32_t>(base::parse_bytes(environment("REFRAIN_CALLPATH", "8")).value_or(8));
  const uint64_t memory = base::parse_bytes(environment("REFRAIN_MEMORY", "")).value_or(0);
  if (memory > 0) bound_memory(p, memory);
  p.clock.start();
  if (const auto timing = format::TimeSpec::parse(environment("REFRAIN_TIMING", "stats"));
      timing.ok() && timing->has_times())
    p.times = make_times(*timing, p.options.output);
  p.path_check = PathCheck::from_environment();
  p.code.refresh();
  connect_heap(p);
  start_control(p);
}

}  // namespace refrain::tracer
