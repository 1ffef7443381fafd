#include "cli/record_options.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/byte_size.h"
#include "base/nearest.h"
#include "cli/choice.h"
#include "cli/find_mpi.h"
#include "format/segments/reduced.h"
#include "format/time/spec.h"
#include "mpi/call_filter.h"
#include "mpi/size_bounds.h"

namespace refrain::cli {

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
  if (!options.exact_copy.empty() && mode != format::TimeMode::kBins && !has_segments)
    return base::usage(
        "--exact-copy goes with --timing bins and segments: other times have no error to check");
  if (!format::source_of(options.segments))
    return unknown_word("segments", options.segments, {"loops", "marks"});
  if (!format::across_of(options.across_ranks))
    return unknown_word("across-ranks", options.across_ranks, {"off", "groups", "segments"});
  if (has_segments) return base::Done{};
  if (options.segments != "loops" || options.across_ranks != "groups")
    return base::usage("--segments and --across-ranks go with --timing segments:METHOD");
  return base::Done{};
}

// A conventional trace.
base::Status check_plain(const RecordOptions& options) {
  constexpr uint64_t kMinBuffer = 4096, kMaxBuffer = uint64_t{1} << 30;
  const auto bytes = base::parse_bytes(options.buffer);
  if (!bytes)
    return base::usage("--buffer is not a size: '" + options.buffer + "' (write 1.5M, say)");
  if (*bytes < kMinBuffer || *bytes > kMaxBuffer)
    return base::usage("--buffer must be from 4K to 1G, not " + options.buffer);
  if (options.no_compress && options.timing != "exact")
    return base::usage("--no-compress goes with --timing exact");
  if (options.no_compress && !options.memory.empty())
    return base::usage("--no-compress does not go with --memory: --buffer says what it takes");
  if (options.no_write && !options.no_compress)
    return base::usage("--no-write goes with --no-compress: other traces are not written by then");
  return base::Done{};
}

}  // namespace

std::string format_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

base::Status check_words(const RecordOptions& options) {
  if (const auto timing = format::TimeSpec::parse(options.timing); !timing.ok())
    return unknown_timing(options.timing, timing.error());
  else if (const auto good = check_times(options, timing->mode); !good.ok())
    return good.error();
  if (const auto good = check_plain(options); !good.ok()) return good.error();
  constexpr double kMinInterval = 0.001, kMaxInterval = 1e9;
  if (options.clock_interval != 0 &&
      !(options.clock_interval >= kMinInterval && options.clock_interval <= kMaxInterval))
    return base::usage("--clock-interval must be from 0.001 to 1e9 seconds, or 0 for none");
  if (options.clock_interval != 0 && options.timing == "stats")
    return base::usage(
        "--clock-interval goes with --timing exact, bins or segments: others need no clock");
  if (!options.mpi.empty() && !is_known_mpi(options.mpi))
    return base::usage("--mpi: '" + options.mpi + "' is none of " + known_mpi_words() +
                       base::did_you_mean(options.mpi, {"mpich", "openmpi", "abi", "smpi"}));
  if (options.buffers != "off" && options.buffers != "on")
    return unknown_word("buffers", options.buffers, {"off", "on"});
  if (options.totals != "off" && options.totals != "on")
    return unknown_word("totals", options.totals, {"off", "on"});
  if (options.functions != "off" && options.functions != "on")
    return unknown_word("functions", options.functions, {"off", "on"});
  if (options.python_frames != "off" && options.python_frames != "on")
    return unknown_word("python-frames", options.python_frames, {"off", "on"});
  if (const auto filter = mpi::CallFilter::parse(options.only, options.without); !filter.ok())
    return filter.error();
  const auto bounds = mpi::SizeBounds::parse(options.min_bytes, options.max_bytes);
  if (!bounds.ok()) return bounds.error();
  if (!options.memory.empty() && !base::parse_bytes(options.memory))
    return base::usage("not a size: '" + options.memory + "' (write 64M, say)");
  return base::Done{};
}

void add_words(Words& words, const RecordOptions& options) {
  const auto add = [&words](const char* option, const char* variable, const std::string& value,
                            const char* otherwise) {
    if (value != otherwise && value != environment(variable))
      words.insert(words.end(), {option, value});
  };
  add("--timing", "REFRAIN_TIMING", options.timing, "stats");
  add("--exact-copy", "REFRAIN_EXACT_COPY", options.exact_copy, "");
  add("--totals", "REFRAIN_TOTALS", options.totals, "on");
  add("--segments", "REFRAIN_SEGMENTS", options.segments, "loops");
  add("--across-ranks", "REFRAIN_ACROSS_RANKS", options.across_ranks, "groups");
  add("--buffer", "REFRAIN_BUFFER", options.buffer, "1.5M");
  const auto add_flag = [&words](const char* option, const char* variable, bool value) {
    if (value && environment(variable).empty()) words.emplace_back(option);
  };
  if (const std::string interval = format_number(options.clock_interval);
      options.clock_interval != 0)
    add("--clock-interval", "REFRAIN_CLOCK_INTERVAL", interval, "0");
  add_flag("--no-compress", "REFRAIN_NO_COMPRESS", options.no_compress);
  add_flag("--no-write", "REFRAIN_NO_WRITE", options.no_write);
  add("--buffers", "REFRAIN_BUFFERS", options.buffers, "off");
  add("--functions", "REFRAIN_FUNCTIONS", options.functions, "off");
  add("--python-frames", "REFRAIN_PYTHON_FRAMES", options.python_frames, "on");
  add("--only", "REFRAIN_ONLY", options.only, "");
  add("--without", "REFRAIN_WITHOUT", options.without, "");
  add("--comm", "REFRAIN_COMM", options.comm, "");
  add("--min-bytes", "REFRAIN_MIN_BYTES", options.min_bytes, "");
  add("--max-bytes", "REFRAIN_MAX_BYTES", options.max_bytes, "");
  add_flag("--start-paused", "REFRAIN_START_PAUSED", options.start_paused);
}

}  // namespace refrain::cli
