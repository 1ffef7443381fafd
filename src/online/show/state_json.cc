#include "online/show/state_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace refrain::online {

namespace {

using json = nlohmann::ordered_json;

// What the recorder writes for a call, a word of the log (format/spool/layout.h).
constexpr double kBytesOfCall = 8;

// An event as a C struct, as the online-coupling paper sends them: call, thread, begin, end,
// communicator, partner, tag and bytes, 8 bytes each.
constexpr uint64_t kBytesOfEvent = 64;

// B_i of that paper (section V-C): bytes over the whole time of the run.
double per_second(uint64_t bytes, const JobNow& job) {
  return job.running_ns == 0
             ? 0
             : static_cast<double>(bytes) * 1e9 / static_cast<double>(job.running_ns);
}

double seconds(uint64_t ns) { return static_cast<double>(ns) / 1e9; }

// Names in traces are bytes of the program; JSON wants UTF-8.
std::string text_of(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

json functions_of(const JobNow& job, size_t top) {
  json rows = json::array();
  for (const FunctionNow& row : job.functions) {
    if (rows.size() == top) break;
    rows.push_back(
        {{"call", row.call}, {"count", row.count}, {"time_ns", row.time_ns}, {"bytes", row.bytes}});
  }
  return rows;
}

json by_rank(const JobNow& job) {
  json rank = json::array(), calls = json::array(), state = json::array(), call = json::array(),
       since = json::array(), iterations = json::array();
  for (const RankNow& r : job.ranks) {
    rank.push_back(r.rank);
    calls.push_back(r.calls);
    state.push_back(to_string(r.state));
    call.push_back(r.call);
    iterations.push_back(r.iterations);
    since.push_back(static_cast<double>(r.since_ns / 1'000'000) / 1e3);
  }
  return {{"rank", rank}, {"calls", calls},   {"state", state},
          {"call", call}, {"since_s", since}, {"iterations", iterations}};
}

json answers_json(const std::vector<std::pair<std::string, std::string>>& answers) {
  json all = json::object();
  for (const auto& [name, text] : answers) all[name] = text;
  return all;
}

// Nobody has compared a host's clock with ours: null.
json hosts_of(const JobNow& job) {
  json all = json::array();
  for (const HostNow& host : job.hosts) {
    json one = {{"host", host.host}, {"ranks", host.ranks}};
    const double offset_s = static_cast<double>(host.clock_offset_ns) / 1e9;
    one["clock_offset_s"] = host.is_compared ? json(offset_s) : json();
    one["clock_error_s"] = host.is_compared ? json(seconds(host.clock_error_ns)) : json();
    all.push_back(std::move(one));
  }
  return all;
}

// Columns of ranks have no more than this.
constexpr size_t kMostWaitRanks = 64;

json waits_of(const WaitsNow& waits) {
  json patterns = json::array(), rank = json::array(), waiting = json::array(),
       causing = json::array(), recent_waiting = json::array(), recent_causing = json::array();
  for (const WaitsNow::OfPattern& p : waits.patterns)
    patterns.push_back({{"pattern", analysis::waits::name_of(p.pattern)},
                        {"title", analysis::waits::title_of(p.pattern)},
                        {"ns", p.ns},
                        {"count", p.count},
                        {"recent_ns", p.recent_ns},
                        {"recent_count", p.recent_count}});
  for (const WaitsNow::OfRank& r : waits.ranks) {
    if (rank.size() == kMostWaitRanks) break;
    rank.push_back(r.rank);
    waiting.push_back(r.waiting_ns);
    causing.push_back(r.causing_ns);
    recent_waiting.push_back(r.recent_waiting_ns);
    recent_causing.push_back(r.recent_causing_ns);
  }
  const uint64_t interval_ns =
      waits.swept_until_ns - std::min(waits.swept_until_ns, waits.recent_from_ns);
  return {{"why_not", waits.why_not},
          {"stopped", waits.stopped},
          {"swept_until_s", seconds(waits.swept_until_ns)},
          {"interval_s", seconds(interval_ns)},
          {"lag_s", seconds(waits.lag_ns)},
          {"behind_rank", waits.behind_rank},
          {"is_whole", waits.is_whole},
          {"calls", waits.calls},
          {"ns", waits.ns},
          {"recent_ns", waits.recent_ns},
          {"unassigned_ns", waits.unassigned_ns},
          {"unmatched_ends", waits.unmatched_ends},
          {"late_calls", waits.late_calls},
          {"patterns", patterns},
          {"ranks", waits.ranks.size()},
          {"by_rank",
           {{"rank", rank},
            {"waiting_ns", waiting},
            {"causing_ns", causing},
            {"recent_waiting_ns", recent_waiting},
            {"recent_causing_ns", recent_causing}}}};
}

json job_json(const JobNow& job, size_t top) {
  json losses = json::array(), stuck = json::array();
  for (const format::LossRecord& l : job.losses)
    losses.push_back(
        {{"reason", l.reason}, {"calls", l.calls}, {"rank", l.rank}, {"detail", l.detail}});
  for (const Stuck& s : job.stuck)
    stuck.push_back({{"call", s.call}, {"ranks", s.ranks}, {"since_s", seconds(s.since_ns)}});
  json circle = json::array();
  for (const auto& [rank, call] : job.circle) circle.push_back({{"rank", rank}, {"call", call}});
  return {{"name", job.name},
          {"state", to_string(job.state)},
          {"ranks", job.world_size},
          {"found", job.ranks.size()},
          {"calls", job.calls},
          {"calls_per_s", job.calls_per_s},
          {"event_bytes_per_s", job.calls_per_s * kBytesOfCall},
          {"bandwidth_stream", per_second(job.stream_bytes, job)},
          {"bandwidth_events", per_second(job.calls * kBytesOfEvent, job)},
          {"stream_bytes", job.stream_bytes},
          {"spool_bytes", job.spool_bytes},
          {"lag_s", seconds(job.look_ns)},
          {"blocked_s", seconds(job.blocked_ns)},
          {"running_s", seconds(job.running_ns)},
          {"story", job.story},
          {"nobody_moves", job.nobody_moves},
          {"losses", losses},
          {"stuck", stuck},
          {"circle", circle},
          {"hosts", hosts_of(job)},
          {"loop",
           {{"call", job.loop.call},
            {"least_calls", job.loop.least_calls},
            {"calls", job.loop.calls},
            {"least", job.loop.least},
            {"most", job.loop.most}}},
          {"waits", waits_of(job.waits)},
          {"functions", functions_of(job, top)},
          {"answers", answers_json(job.answers)},
          {"by_rank", by_rank(job)}};
}

// A label's value: backslashes, quotes and newlines are escaped, all else stands as it is.
std::string label(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out;
}

}  // namespace

std::string state_json(const std::vector<JobNow>& jobs, uint64_t look, uint64_t time_ns, size_t top,
                       const std::vector<PluginNow>& plugins) {
  json all = json::array(), hosted = json::array();
  for (const JobNow& job : jobs) all.push_back(job_json(job, top));
  for (const PluginNow& p : plugins)
    hosted.push_back({{"name", p.name},
                      {"disabled", p.is_disabled},
                      {"why", p.why},
                      {"looks", p.looks},
                      {"missed", p.missed}});
  return text_of({{"look", look}, {"time_ns", time_ns}, {"jobs", all}, {"plugins", hosted}});
}

std::string job_text(const JobNow& job, size_t top) { return text_of(job_json(job, top)); }

std::string answers_text(const std::vector<std::pair<std::string, std::string>>& answers) {
  return text_of(answers_json(answers));
}

std::string summary_json(const std::vector<JobNow>& jobs) {
  json all = json::array();
  for (const JobNow& job : jobs) {
    json whole = job_json(job, 0), some;
    for (const char* key : {"name", "state", "ranks", "calls", "calls_per_s", "event_bytes_per_s",
                            "stream_bytes", "lag_s", "blocked_s", "losses", "stuck", "nobody_moves",
                            "circle", "story", "loop", "waits", "hosts"})
      some[key] = std::move(whole[key]);
    all.push_back(std::move(some));
  }
  return text_of({{"jobs", all}});
}

std::string metrics_text(const std::vector<JobNow>& jobs) {
  struct Metric {
    const char *name, *type, *help;
    double (*value)(const JobNow&);
  };
  static constexpr Metric kMetrics[] = {
      {"refrain_job_ranks", "gauge", "Ranks of the job.",
       [](const JobNow& j) { return static_cast<double>(j.world_size); }},
      {"refrain_job_running", "gauge", "1 while any rank of the job lives.",
       [](const JobNow& j) {
         return j.state == JobState::kRunning || j.state == JobState::kFinishing ? 1.0 : 0.0;
       }},
      {"refrain_job_calls_total", "counter", "MPI calls that have returned.",
       [](const JobNow& j) { return static_cast<double>(j.calls); }},
      {"refrain_job_stuck_ranks", "gauge", "Ranks that are in one call for long.",
       [](const JobNow& j) {
         return static_cast<double>(
             std::count_if(j.ranks.begin(), j.ranks.end(),
                           [](const RankNow& r) { return r.state == RankState::kStuck; }));
       }},
      {"refrain_job_losses", "gauge", "Kinds of losses of the record.",
       [](const JobNow& j) { return static_cast<double>(j.losses.size()); }},
      {"refrain_job_spool_bytes", "gauge", "Bytes of the job's spool on disk.",
       [](const JobNow& j) { return static_cast<double>(j.spool_bytes); }},
      {"refrain_job_waiting_seconds_total", "counter",
       "Time of all ranks in wait states, as far as calls were looked at.",
       [](const JobNow& j) { return seconds(j.waits.ns); }},
      {"refrain_job_waits_lag_seconds", "gauge", "How far that is behind the run.",
       [](const JobNow& j) { return seconds(j.waits.lag_ns); }},
      {"refrain_job_lag_seconds", "gauge", "Age of these numbers when they were ready.",
       [](const JobNow& j) { return seconds(j.look_ns); }},
  };
  std::string out;
  for (const Metric& m : kMetrics) {
    out += fmt::format("# HELP {} {}\n# TYPE {} {}\n", m.name, m.help, m.name, m.type);
    for (const JobNow& job : jobs)
      out += fmt::format("{}{{job=\"{}\"}} {}\n", m.name, label(job.name), m.value(job));
  }
  return out;
}

}  // namespace refrain::online
