#include "cli/record_options.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/byte_size.h"
#include "base/nearest.h"
#include "cli/find_mpi.h"
#include "cli/values.h"
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

base::Error unknown_word(const std::string& option, std::string value,
                         std::vector<std::string> known) {
  return base::usage("--" + option + ": " + one_of(std::move(known))(value));
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

void add_times(CLI::App& verb, RecordOptions& options) {
  verb.add_option(
          "--timing", options.timing,
          "What to keep of time: stats, of each different call; exact, begin and end of every\n"
          "call; bins:0.02, the same within 2 %, bins:0.02,MPI_Wait=0.2 within another\n"
          "bound for a function; segments:METHOD[:THRESHOLD[:ACROSS RANKS]], what `refrain\n"
          "reduce` makes of exact times, segments:auto say")
      ->envname("REFRAIN_TIMING")
      ->capture_default_str();
  verb.add_option("--exact-copy", options.exact_copy,
                  "With --timing bins or segments: write a second trace with the exact times of\n"
                  "the same run, for `refrain check --against`, or `refrain evaluate --against`")
      ->envname("REFRAIN_EXACT_COPY");
  verb.add_option(
          "--totals", options.totals,
          "off: leave out what a trace has for each rank, a byte or so: its time in MPI and\n"
          "outside, what recording cost it, how often it lost its core")
      ->envname("REFRAIN_TOTALS")
      ->capture_default_str();
  verb.add_option("--segments", options.segments,
                  "With --timing segments: where they come from: loops (of the grammar), or marks\n"
                  "(refrain/mark.h, --functions on, MPI_Pcontrol from level 3 on)")
      ->envname("REFRAIN_SEGMENTS")
      ->capture_default_str();
  verb.add_option(
          "--across-ranks", options.across_ranks,
          "With --timing segments: what representatives stand for: segments of their rank\n"
          "only (off), of groups of ranks all of whose segments match (groups), of any rank\n"
          "(segments)")
      ->envname("REFRAIN_ACROSS_RANKS")
      ->capture_default_str();
  verb.add_option(
          "--clock-interval", options.clock_interval,
          "Compare the clocks of hosts every so many seconds as well, behind a barrier or the\n"
          "like of all ranks, and not only in MPI_Init and MPI_Finalize: for long runs; 60,\n"
          "say, and 0 for not")
      ->envname("REFRAIN_CLOCK_INTERVAL")
      ->transform(seconds_with_unit(0.001, 1e9))
      ->type_name("SECONDS")
      ->capture_default_str();
  verb.add_flag("--no-compress", options.no_compress,
                "With --timing exact: a conventional trace while the program runs. Every call is\n"
                "written plainly into a buffer, and that to a file of each thread in OUTPUT.plain\n"
                "when it is full; MPI_Finalize makes the trace of these files, and removes them.\n"
                "To compare with: `refrain info` says the bytes, and what writing took")
      ->envname("REFRAIN_NO_COMPRESS");
  verb.add_option("--buffer", options.buffer, "With --no-compress: bytes of the buffer")
      ->envname("REFRAIN_BUFFER")
      ->capture_default_str();
  verb.add_flag("--no-write", options.no_write,
                "With --no-compress: throw full buffers away, and the times with them")
      ->envname("REFRAIN_NO_WRITE");
}

void add_filters(CLI::App& verb, RecordOptions& options) {
  verb.add_option("--only", options.only,
                  "Record only these calls: groups (p2p, coll, rma, io, comm, ...) and functions,\n"
                  "with commas between them. Messages are kept or left out as a whole (p2p), and\n"
                  "completions follow their requests. The trace says what was left out")
      ->envname("REFRAIN_ONLY");
  verb.add_option("--without", options.without, "Leave these calls out; the same words")
      ->envname("REFRAIN_WITHOUT");
  verb.add_option("--comm", options.comm,
                  "Of calls on a communicator, record only those on these: world, self, or names\n"
                  "given with MPI_Comm_set_name (the same on all members)")
      ->envname("REFRAIN_COMM");
  verb.add_option("--min-bytes", options.min_bytes,
                  "Leave out messages with fewer bytes, 64K say, both ends: receives go by what\n"
                  "came. Also accesses to windows and files, and collective calls but those whose\n"
                  "amounts may differ between ranks (v and w variants, neighbourhoods, files)")
      ->envname("REFRAIN_MIN_BYTES");
  verb.add_option("--max-bytes", options.max_bytes, "Leave out messages with more bytes; the same")
      ->envname("REFRAIN_MAX_BYTES");
  verb.add_option("--functions", options.functions,
                  "on: record where the program's own functions begin and end, of those compiled\n"
                  "with -finstrument-functions")
      ->envname("REFRAIN_FUNCTIONS")
      ->capture_default_str();
  verb.add_option("--python-frames", options.python_frames,
                  "on: call paths have the functions and lines of Python programs, 3.9 to 3.14;\n"
                  "off: the interpreter's own functions")
      ->envname("REFRAIN_PYTHON_FRAMES")
      ->capture_default_str();
  verb.add_flag("--start-paused", options.start_paused,
                "Record nothing until MPI_Pcontrol(1) or refrain_resume() of refrain/mark.h, but\n"
                "MPI_Init and MPI_Finalize; MPI_Pcontrol(0) and refrain_pause() pause again")
      ->envname("REFRAIN_START_PAUSED");
}

}  // namespace refrain::cli
