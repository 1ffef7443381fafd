#include "cli/launch/record_options.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/byte_size.h"
#include "base/known_mpis.h"
#include "base/nearest.h"
#include "cli/launch/find_mpi.h"
#include "cli/options/choice.h"
#include "format/clusters/cluster_request.h"
#include "format/limits.h"
#include "format/messages/selection.h"
#include "format/segments/reduced.h"
#include "format/spool/live_job.h"
#include "format/time/spec.h"
#include "mpi/call_filter.h"
#include "mpi/size_bounds.h"
#include "options/live_policy.h"

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

bool is_size(const std::string& text) { return text.empty() || base::parse_bytes(text); }

// Message logs. What is left out of the trace could not be found in a log.
base::Status check_messages(const RecordOptions& options) {
  const bool logs = !options[RecordOption::kMessages].empty();
  const std::string &size = options[RecordOption::kNodeSize], &map = options[RecordOption::kMap];
  if (!logs) {
    if (size != "0" || !map.empty() || !options[RecordOption::kMessageLimit].empty())
      return base::usage("--node-size, --map and --message-limit need --messages");
    return base::Done{};
  }
  for (const RecordOption other : {RecordOption::kOnly, RecordOption::kWithout, RecordOption::kComm,
                                   RecordOption::kMinBytes, RecordOption::kMaxBytes})
    if (!options[other].empty())
      return base::usage(std::string("--messages and ") + options::row_of(other).words +
                         " cannot be combined: a log needs all calls");
  if (options.is_on(RecordOption::kStartPaused))
    return base::usage("--messages and --start-paused cannot be combined: a log needs all calls");
  const auto nodes = base::parse_bytes(size);
  if (!nodes || *nodes > format::kMaxRanks)
    return base::usage("--node-size: '" + size + "' is not a number of ranks");
  if (*nodes > 0 && !map.empty())
    return base::usage("--node-size and --map cannot be combined: both say what is on a node");
  if (!is_size(options[RecordOption::kMessageLimit]))
    return base::usage("--message-limit: '" + options[RecordOption::kMessageLimit] +
                       "' is not a size (for example 4G)");
  if (const auto ranks = logged_ranks(options); !ranks.ok()) return ranks.error();
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
    return base::usage("--buffer: '" + options[RecordOption::kBuffer] +
                       "' is not a size, such as 1.5M");
  if (*bytes < kMinBuffer || *bytes > kMaxBuffer)
    return base::usage("--buffer must be from 4K to 1G, not " + options[RecordOption::kBuffer]);
  if (options.is_on(RecordOption::kNoCompress) && options[RecordOption::kTiming] != "exact")
    return base::usage("--no-compress needs --timing exact");
  if (options.is_on(RecordOption::kNoCompress) && !options[RecordOption::kMemory].empty())
    return base::usage("--no-compress and --memory cannot be combined: --buffer limits the memory");
  if (options.is_on(RecordOption::kNoWrite) && !options.is_on(RecordOption::kNoCompress))
    return base::usage(
        "--no-write needs --no-compress: only such a trace is written while the program runs");
  if (options[RecordOption::kBuffer] != options::default_of(RecordOption::kBuffer) &&
      !options.is_on(RecordOption::kNoCompress))
    return base::usage("--buffer needs --no-compress: only such a trace has buffers of calls");
  return base::Done{};
}

base::Status check_flow(const RecordOptions& options) {
  const bool is_live = options.is_on(RecordOption::kLive);
  const std::string& policy = options[RecordOption::kLivePolicy];
  if (!options::parse_live_policy(policy.c_str()).is_good)
    return base::usage("--live-policy: '" + policy +
                       "' is no policy: spool, drop, or block:MS with MS from 1 to 60000");
  if (!is_live && policy != options::default_of(RecordOption::kLivePolicy))
    return base::usage("--live-policy needs --live: it is about the analyser of the same launch");
  if (!options.is_on(RecordOption::kLiveOnly)) return base::Done{};
  if (!is_live) return base::usage("--live-only needs --live: somebody must write the trace");
  for (const auto& [option, word] : {std::pair{RecordOption::kCluster, "--cluster"},
                                     std::pair{RecordOption::kExactCopy, "--exact-copy"}})
    if (!options[option].empty())
      return base::usage(std::string("--live-only and ") + word +
                         " cannot be combined: that is made in MPI_Finalize");
  if (options.is_on(RecordOption::kNoCompress))
    return base::usage(
        "--live-only and --no-compress cannot be combined: that is coded in "
        "MPI_Finalize");
  return base::Done{};
}

base::Status check_live(const RecordOptions& options) {
  const bool is_live = options.is_on(RecordOption::kLive);
  if (const base::Status flow = check_flow(options); !flow.ok()) return flow;
  const std::string& name = options[RecordOption::kLiveName];
  if (!is_live && !name.empty())
    return base::usage("--live-name is the name of a program that is recorded with --live");
  if (!name.empty() && !format::spool::is_job_name(name))
    return base::usage("--live-name: '" + name +
                       "' is no name: up to 128 letters, digits, '.', '_' and '-', no '.' first");
  if (is_live && options[RecordOption::kSpool] == "off")
    return base::usage("--live needs the spool: leave out --spool off");
  const std::string& folder = options[RecordOption::kLiveDir];
  if (folder.empty()) return base::Done{};
  if (options[RecordOption::kSpool] == "off")
    return base::usage("--live-dir needs the spool: leave out --spool off");
  struct stat info {};
  if (stat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode))
    return base::usage("--live-dir: no such folder; `mkdir -m 700 " + folder + "` makes it",
                       folder);
  if (access(folder.c_str(), W_OK | X_OK) != 0)
    return base::usage("--live-dir: files cannot be made there", folder);
  return base::Done{};
}

}  // namespace

base::Result<std::string> logged_ranks(const RecordOptions& options) {
  namespace messages = format::messages;
  const std::string& text = options[RecordOption::kMessages];
  std::vector<std::vector<messages::RankRun>> map;
  if (const std::string& path = options[RecordOption::kMap]; !path.empty()) {
    auto read = messages::read_map(path);
    if (!read.ok()) return base::usage("--map: " + read.error().message);
    map = std::move(*read);
  }
  constexpr std::string_view kPlan = "representatives:";
  if (text.compare(0, kPlan.size(), kPlan) != 0) {
    const auto chosen = messages::parse_selection(text);
    if (!chosen.ok()) return base::usage("--messages: " + chosen.error().message);
    return text;
  }
  if (text.size() == kPlan.size())
    return base::usage("--messages: representatives: names no file of `refrain similarity --plan`");
  const auto plan = messages::read_plan(text.substr(kPlan.size()));
  if (!plan.ok()) return base::usage("--messages: " + plan.error().message);
  const uint64_t size = base::parse_bytes(options[RecordOption::kNodeSize]).value_or(0);
  std::vector<messages::RankRun> ranks;
  for (const uint32_t rank : plan->representatives) {
    std::vector<messages::RankRun> node = {{rank, 1}};
    if (size > 0) node = messages::node_of(rank, plan->ranks, size);
    if (!map.empty()) node = messages::node_of(rank, map);
    ranks.insert(ranks.end(), node.begin(), node.end());
  }
  return "ranks:" + messages::ranks_text(messages::joined(std::move(ranks)));
}

std::string plain_number(const std::string& text) {
  char out[32];
  std::snprintf(out, sizeof out, "%.9g", std::strtod(text.c_str(), nullptr));
  return out;
}

namespace {

base::Status check_all(const RecordOptions& options) {
  if (const auto timing = format::TimeSpec::parse(options[RecordOption::kTiming]); !timing.ok())
    return unknown_timing(options[RecordOption::kTiming], timing.error());
  else if (const auto good = check_times(options, timing->mode); !good.ok())
    return good.error();
  else if (const auto clusters = check_clusters(options, timing->mode); !clusters.ok())
    return clusters.error();
  if (const auto good = check_plain(options); !good.ok()) return good.error();
  if (const auto good = check_messages(options); !good.ok()) return good.error();
  if (const auto good = check_live(options); !good.ok()) return good.error();
  constexpr double kMinInterval = 0.001, kMaxInterval = 1e9;
  const double interval = std::strtod(options[RecordOption::kClockInterval].c_str(), nullptr);
  if (interval != 0 && !(interval >= kMinInterval && interval <= kMaxInterval))
    return base::usage("--clock-interval must be from 0.001 to 1e9 seconds, or 0 for none");
  if (interval != 0 && options[RecordOption::kTiming] == "stats")
    return base::usage(
        "--clock-interval needs --timing exact, bins or segments: statistics do not use the clocks "
        "of other hosts");
  const auto mpis = base::known_mpis();
  if (!options[RecordOption::kMpi].empty() && !is_known_mpi(options[RecordOption::kMpi]))
    return base::usage("--mpi: '" + options[RecordOption::kMpi] + "' is none of " +
                       known_mpi_words() +
                       base::did_you_mean(options[RecordOption::kMpi], {mpis.begin(), mpis.end()}));
  for (const RecordOption option :
       {RecordOption::kBuffers, RecordOption::kPosix, RecordOption::kTotals,
        RecordOption::kFunctions, RecordOption::kPythonFrames})
    if (options[option] != "off" && options[option] != "on")
      return unknown_word(row_of(option).words + 2, options[option], {"off", "on"});
  if (const auto filter =
          mpi::CallFilter::parse(options[RecordOption::kOnly], options[RecordOption::kWithout]);
      !filter.ok())
    return filter.error();
  const auto bounds =
      mpi::SizeBounds::parse(options[RecordOption::kMinBytes], options[RecordOption::kMaxBytes]);
  if (!bounds.ok()) return bounds.error();
  if (!options[RecordOption::kMemory].empty() && !base::parse_bytes(options[RecordOption::kMemory]))
    return base::usage("--memory: '" + options[RecordOption::kMemory] +
                       "' is not a size, such as 64M");
  return base::Done{};
}

}  // namespace

base::Status check_words(const RecordOptions& options) {
  const base::Status good = check_all(options);
  if (good.ok()) return good;
  // Who has set a variable looks for its name.
  for (const options::OptionRow& row : options::kRecordRows) {
    const std::string_view names = row.words;
    const std::string begin = std::string(names.substr(names.find("--"))) + ":";
    if (good.error().message.rfind(begin, 0) != 0 || !options.is_given(row.option) ||
        environment(row.variable) != options[row.option])
      continue;
    base::Error error = good.error();
    error.message.replace(0, begin.size() - 1, row.variable);
    return error;
  }
  return good;
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

Words misspelt_variables() {
  constexpr std::string_view kBegin = "REFRAIN_";
  std::vector<std::string> known, all;  // without that begin: those for users
  for (const options::OptionRow& row : options::kRecordRows)
    known.emplace_back(row.variable + kBegin.size());
  for (const options::VariableRow& row : options::kVariableRows) {
    all.emplace_back(row.name + kBegin.size());
    if (row.variable < options::Variable::kCheckPaths) known.push_back(all.back());
  }
  all.insert(all.end(), known.begin(), known.end());
  Words out;
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
    const std::string_view one = *at;
    if (one.rfind(kBegin, 0) != 0) continue;
    const std::string name(one.substr(kBegin.size(), one.find('=') - kBegin.size()));
    if (std::find(all.begin(), all.end(), name) != all.end()) continue;
    if (const std::string meant = base::nearest(name, known); !meant.empty())
      out.push_back(std::string(kBegin) + name + ": unknown, and ignored; did you mean '" +
                    std::string(kBegin) + meant + "'?");
  }
  return out;
}

}  // namespace refrain::cli
