// Converts a trace to the formats of other tools.
//
//   convert::Options options;
//   options.target = "otf2", options.output = "run.otf2";
//   auto outcome = convert::convert(trace, options, {});
//
// Ranks are read one after another, so memory depends on the number of ranks and distinct calls,
// not on the number of calls, messages or channels: tables of channels are limited by
// Options::memory and replaced by temporary files beside the output. Outcome::not_held counts what
// a format cannot represent. The output is written under a temporary name and renamed when it is
// complete; a failed conversion leaves no file. docs/convert.md describes the mapping to each
// format.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "events/by_rank/scope.h"
#include "refrain/trace.h"

namespace refrain::convert {

struct Options {
  std::string target;       // a name of targets()
  std::string output;       // path of the file or folder
  std::vector<Rank> ranks;  // ascending, each once; empty: all
  // Calls that end at from_ns or later and begin at to_ns or earlier. Needs times.
  uint64_t from_ns = 0, to_ns = UINT64_MAX;
  bool has_window = false;
  bool force = false;   // replace an output that is there
  bool resolve = true;  // call sites as file and line, by debug information
  double flops = 0;     // ti: flops a second of the host; 0: computation as time
  // What tables of channels and of tags, and sorts outside of memory, may take together.
  size_t memory = size_t{256} << 20;
  uint64_t most_file_bytes = uint64_t{2'000'000'000};  // perfetto: then the next file begins
};

// Where the times in the output come from.
enum class TimesFrom : uint8_t {
  kTrace,  // recorded, within the trace's bound
  kBuilt,  // put together from mean durations and the time that each rank spent outside of MPI
  kNone,   // the output has none
};
std::string_view name_of(TimesFrom times);

// What the format holds is in the tally.
struct Outcome : events::Tally {
  std::vector<std::string> files;  // what was written: files, or a folder
  uint64_t bytes = 0;
  uint64_t ranks = 0;
  TimesFrom times = TimesFrom::kTrace;
};

// Names that Options::target may have, those first that this build was made with.
struct Target {
  std::string_view name;
  std::string_view what;     // one line
  std::string_view missing;  // empty, or the package that this build lacks for it
};
const std::vector<Target>& targets();

using Progress = events::Progress;

// Fails with kUsage when the output is there already or a window is asked for and the trace has no
// times, with kUnsupported for a target that this build lacks.
Result<Outcome> convert(const Trace& trace, const Options& options, const Progress& progress);

}  // namespace refrain::convert
