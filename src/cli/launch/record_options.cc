#include "cli/launch/record_options.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/byte_size.h"
#include "base/nearest.h"
#include "cli/launch/find_mpi.h"
#include "cli/options/choice.h"
#include "format/cluster_request.h"
#include "format/segments/reduced.h"
#include "format/time/spec.h"
#include "mpi/call_filter.h"
#include "mpi/size_bounds.h"

namespace refrain::cli {

using options::OptionKind;
using options::row_of;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

namespace {

base::Error unknown_word(const std::string& option, const std::string& value,
                         const std::vector<std::string>& known) {
  return base::usage("--" + option + ": " + none_of(value, known));
}

// What stands behind a known word is wrong, or the word itself.
base::Error unknown_timing(const std::string& text, const base::Error& error) {
  const std::vector<std::string> known = {"stats", "exact", "bins", "segments"};
  const std::string word = text.substr(0, text.find(':'));
  const bool is_known = std::find(known.begin(), known.end(), word) != known.end();
  return base::usage("--timing: " + error.message +
                     (is_known ? std::string() : base::did_you_mean(word, known)));
}

base::Status check_times(const RecordOptions& options, format::TimeMode mode) {
  const bool has_segments = mode == format::TimeMode::kSegments;
  if (!options[RecordOption::kExactCopy].empty() && mode != format::TimeMode::kBins &&
      !has_segments && options[RecordOption::kCluster].empty())
    return base::usage(
        "--exact-copy needs --timing bins or segments, or --cluster: other times have no error to "
        "check");
  if (!format::source_of(options[RecordOption::kSegments]))
    return unknown_word("segments", options[RecordOption::kSegments], {"loops", "marks"});
  if (!format::across_of(options[RecordOption::kAcrossRanks]))
    return unknown_word("across-ranks", options[RecordOption::kAcrossRanks],
                        {"off", "groups", "segments"});
  if (has_segments) return base::Done{};
  if (options[RecordOption::kSegments] != "loops" ||
      options[RecordOption::kAcrossRanks] != "groups")
    return base::usage("--segments and --across-ranks need --timing segments:METHOD");
  return base::Done{};
}

// What follows from the words is worked out by the recorder again, in the same way.
base::Status check_clusters(const RecordOptions& options, format::TimeMode mode) {
  const std::string& k = options[RecordOption::kCluster];
  constexpr RecordOption kOthers[] = {RecordOption::kMix,      RecordOption::kEndpoints,
                                      RecordOption::kAssign,   RecordOption::kSteps,
                                      RecordOption::kDistance, RecordOption::kMetric,
                                      RecordOption::kSeed};
  if (k.empty()) {
    for (const RecordOption other : kOthers)
      if (options.is_given(other) && options[other] != options::default_of(other) &&
          !(row_of(other).kind == OptionKind::kFlag && !options.is_on(other)))
        return base::usage(std::string(row_of(other).words) + " needs --cluster");
    return base::Done{};
  }
  format::ClusterWords words;
  words.k = k;
  words.mixes = options.is_on(RecordOption::kMix);
  words.endpoints = options[RecordOption::kEndpoints];
  words.assign = options[RecordOption::kAssign];
  words.steps = options[RecordOption::kSteps];
  words.distance = options[RecordOption::kDistance];
  words.metric = options[RecordOption::kMetric];
  words.seed = options[RecordOption::kSeed];
  const auto request = format::cluster_request(words, "--cluster");
  if (!request.ok()) return request.error();
  if (options[RecordOption::kTotals] == "off")
    return base::usage("--cluster and --totals off cannot be combined: ranks are compared by them");
  if (options.is_on(RecordOption::kNoCompress))
    return base::usage(
        "--cluster and --no-compress cannot be combined: a conventional trace has "
        "the times of all ranks");
  if (request->has_lead_endpoints && mode == format::TimeMode::kSegments)
    return base::usage("--endpoints lead and --timing segments cannot be combined");
  return base::Done{};
}

// A conventional trace.
base::Status check_plain(const RecordOptions& options) {
  constexpr uint64_t kMinBuffer = 4096, kMaxBuffer = uint64_t{1} << 30;
  const auto bytes = base::parse_bytes(options[RecordOption::kBuffer]);
  if (!bytes)
    return base::usage("--buffer is not a size: '" + options[RecordOption::kBuffer] +
                       "' (for example 1.5M)");
  if (*bytes < kMinBuffer || *bytes > kMaxBuffer)
    return base::usage("--buffer must be from 4K to 1G, not " + options[RecordOption::kBuffer]);
  if (options.is_on(RecordOption::kNoCompress) && options[RecordOption::kTiming] != "exact")
    return base::usage("--no-compress needs --timing exact");
  if (options.is_on(RecordOption::kNoCompress) && !options[RecordOption::kMemory].empty())
    return base::usage("--no-compress and --memory cannot be combined: --buffer limits the memory");
  if (options.is_on(RecordOption::kNoWrite) && !options.is_on(RecordOption::kNoCompress))
    return base::usage(
        "--no-write needs --no-compress: only such a trace is written while the program runs");
  return base::Done{};
}

}  // namespace

std::string plain_number(const std::string& text) {
  char out[32];
  std::snprintf(out, sizeof out, "%.9g", std::strtod(text.c_str(), nullptr));
  return out;
}

base::Status check_words(const RecordOptions& options) {
  if (const auto timing = format::TimeSpec::parse(options[RecordOption::kTiming]); !timing.ok())
    return unknown_timing(options[RecordOption::kTiming], timing.error());
  else if (const auto good = check_times(options, timing->mode); !good.ok())
    return good.error();
  else if (const auto clusters = check_clusters(options, timing->mode); !clusters.ok())
    return clusters.error();
  if (const auto good = check_plain(options); !good.ok()) return good.error();
  constexpr double kMinInterval = 0.001, kMaxInterval = 1e9;
  const double interval = std::strtod(options[RecordOption::kClockInterval].c_str(), nullptr);
  if (interval != 0 && !(interval >= kMinInterval && interval <= kMaxInterval))
    return base::usage("--clock-interval must be from 0.001 to 1e9 seconds, or 0 for none");
  if (interval != 0 && options[RecordOption::kTiming] == "stats")
    return base::usage(
        "--clock-interval needs --timing exact, bins or segments: statistics do not use the clocks "
        "of other hosts");
  if (!options[RecordOption::kMpi].empty() && !is_known_mpi(options[RecordOption::kMpi]))
    return base::usage(
        "--mpi: '" + options[RecordOption::kMpi] + "' is none of " + known_mpi_words() +
        base::did_you_mean(options[RecordOption::kMpi], {"mpich", "openmpi", "abi", "smpi"}));
  if (options[RecordOption::kBuffers] != "off" && options[RecordOption::kBuffers] != "on")
    return unknown_word("buffers", options[RecordOption::kBuffers], {"off", "on"});
  if (options[RecordOption::kTotals] != "off" && options[RecordOption::kTotals] != "on")
    return unknown_word("totals", options[RecordOption::kTotals], {"off", "on"});
  if (options[RecordOption::kFunctions] != "off" && options[RecordOption::kFunctions] != "on")
    return unknown_word("functions", options[RecordOption::kFunctions], {"off", "on"});
  if (options[RecordOption::kPythonFrames] != "off" && options[RecordOption::kPythonFrames] != "on")
    return unknown_word("python-frames", options[RecordOption::kPythonFrames], {"off", "on"});
  if (const auto filter =
          mpi::CallFilter::parse(options[RecordOption::kOnly], options[RecordOption::kWithout]);
      !filter.ok())
    return filter.error();
  const auto bounds =
      mpi::SizeBounds::parse(options[RecordOption::kMinBytes], options[RecordOption::kMaxBytes]);
  if (!bounds.ok()) return bounds.error();
  if (!options[RecordOption::kMemory].empty() && !base::parse_bytes(options[RecordOption::kMemory]))
    return base::usage("not a size: '" + options[RecordOption::kMemory] + "' (for example 64M)");
  return base::Done{};
}

Words given_words(const RecordOptions& options) {
  Words words;
  for (const options::OptionRow& row : options::kRecordRows) {
    // What it says to the user is no part of what is recorded.
    if (row.option == RecordOption::kQuiet || !options.is_given(row.option)) continue;
    const std::string said = environment(row.variable);
    const std::string names = row.words;
    const std::string name = names.substr(0, names.find(','));
    if (row.kind == OptionKind::kFlag) {
      if (options.is_on(row.option) && said.empty()) words.push_back(name);
    } else if (options[row.option] != said) {
      words.insert(words.end(), {name, options[row.option]});
    }
  }
  return words;
}

}  // namespace refrain::cli
