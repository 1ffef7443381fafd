#include "tracer/startup/start_process.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "base/byte_size.h"
#include "mpi_runtime/built_with.h"
#include "options/environment.h"
#include "tracer/calls/posix_calls.h"
#include "tracer/calls/table_epochs.h"
#include "tracer/filter/control.h"
#include "tracer/paths/path_check.h"
#include "tracer/startup/launch.h"
#include "tracer/startup/launcher.h"
#include "tracer/state/complain.h"
#include "tracer/state/process.h"
#include "tracer/state/slow_path_reasons.h"
#include "tracer/symbolic/buffers.h"
#include "tracer/times/call_times.h"
#include "tracer/times/segment_times.h"

namespace refrain::tracer {

using options::RecordOption, options::text_of, options::Variable;

namespace {

constexpr int kUnsupported = 5;  // exit status

std::string absolute(const std::string& path) {
  if (!path.empty() && path[0] == '/') return path;
  char cwd[4096];
  return getcwd(cwd, sizeof cwd) != nullptr ? std::string(cwd) + "/" + path : path;
}

uint32_t call_path_depth() {
  const auto depth = base::parse_bytes(text_of(RecordOption::kCallPath));
  const auto otherwise = base::parse_bytes(options::default_of(RecordOption::kCallPath));
  return static_cast<uint32_t>(depth.value_or(*otherwise));
}

// The command line has checked the words; whoever set the variables by hand gets no clusters for
// wrong ones.
void read_clusters(Options& to) {
  format::ClusterWords words;
  words.k = text_of(RecordOption::kCluster);
  if (words.k.empty()) return;
  words.mixes = options::is_given(RecordOption::kMix);
  words.endpoints = text_of(RecordOption::kEndpoints);
  words.assign = text_of(RecordOption::kAssign);
  words.steps = text_of(RecordOption::kSteps);
  words.distance = text_of(RecordOption::kDistance);
  words.metric = text_of(RecordOption::kMetric);
  words.seed = text_of(RecordOption::kSeed);
  const auto request = format::cluster_request(words, "--cluster");
  to.has_clusters = request.ok() && to.totals;
  if (!to.has_clusters) return;
  to.clusters = *request;
  to.full_copy = text_of(RecordOption::kExactCopy);
}

CallTimes* make_times(const format::TimeSpec& timing, const std::string& output) {
  const bool has_copy = timing.mode != format::TimeMode::kExact;
  auto* const times = new CallTimes(timing, has_copy ? text_of(RecordOption::kExactCopy) : "",
                                    PlainSpec::from_environment(output),
                                    CallTimes::clock_interval_from_environment());
  if (timing.mode != format::TimeMode::kSegments) return times;
  const auto method = similarity::parse_method(timing.method);
  if (!method.ok()) return times;  // it has been asked
  const std::string source = text_of(RecordOption::kSegments);
  const std::string across = text_of(RecordOption::kAcrossRanks);
  times->make_segments(
      new SegmentTimes(*method, format::source_of(source).value_or(format::SegmentSource::kLoops),
                       format::across_of(across).value_or(format::AcrossRanks::kGroups)),
      source, across);
  return times;
}

// Rank 0 says what one rank has to say. It may be an analyser's: then the first rank that asks.
bool is_to_say() {
  return options::is_given(RecordOption::kLive) ? is_first_to_ask(own_word()) : is_first_rank();
}

// The recorder's values mean nothing to another MPI: nothing can be passed on to it.
void leave_if_other_mpi() {
  const std::string line = line_on_other_mpi();
  if (line.empty()) return;
  const bool says = is_to_say();
  if (says) say("%s", line.c_str());
  // Who has said it must still be there when the next one asks whether it is to.
  wait_to_abort(says);
  std::exit(kUnsupported);
}

}  // namespace

void start_process(Process& p) {
  leave_if_other_mpi();
  if (std::strcmp(text_of(Variable::kRecord), "0") == 0)
    return set_slow_path_reason(slow_path_reasons::kNotRecording, true);
  p.pid = static_cast<int>(getpid());
  p.options.output = absolute(text_of(RecordOption::kOutput));
  p.options.program = text_of(Variable::kProgram);
  p.options.command = text_of(Variable::kCommand);
  p.options.messages = text_of(RecordOption::kMessages);
  char folder[4096];
  if (getcwd(folder, sizeof folder) != nullptr) p.options.working_directory = folder;
  p.options.quiet = options::is_given(RecordOption::kQuiet);
  p.options.totals = !options::is_word(RecordOption::kTotals, "off");
  p.options.gaps = options::is_given(RecordOption::kGaps);
  read_clusters(p.options);
  p.options.call_path_depth = call_path_depth();
  const uint64_t memory = base::parse_bytes(text_of(RecordOption::kMemory)).value_or(0);
  if (memory > 0) bound_memory(p, memory);
  p.clock.start();
  if (const auto timing = format::TimeSpec::parse(text_of(RecordOption::kTiming));
      timing.ok() && timing->has_times())
    p.times = make_times(*timing, p.options.output);
  p.path_check = PathCheck::from_environment();
  p.code.refresh();
  connect_heap(p);
  begin_posix(p);
  start_control(p);
}

}  // namespace refrain::tracer
