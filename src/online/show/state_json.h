// A job as JSON: the object of `live watch --format json`, of /state.json and of the page's events.
//
//   {"look": n, "time_ns": wall clock, "jobs": [{
//      "name", "state", "ranks": world size, "found": ranks that have a spool, "calls",
//      "calls_per_s", "event_bytes_per_s",
//      "bandwidth_stream", "bandwidth_events": bytes over the time of the run, of the stream, and
//      of
//                                              the same calls as events of 64 bytes,
//      "stream_bytes", "spool_bytes", "lag_s", "blocked_s",
//      "running_s", "story", "nobody_moves",
//      "losses": [{"reason", "calls", "rank", "detail"}],
//      "stuck": [{"call", "ranks": [...], "since_s"}],
//      "circle": [{"rank", "call"}]      of a deadlock: each waits for the next one
//      "functions": [{"call", "count", "time_ns", "bytes"}]   as `profile`, the `top` by time,
//      "by_rank": {"rank": [], "calls": [], "state": [], "call": [], "since_s": [], "iterations":
//      []},
//      "loop": {"call", "least_calls", "calls": of an iteration, "least", "most": iterations over
//                the ranks}
//      "waits": {"why_not": "" or why there are none, "stopped", "swept_until_s", "interval_s",
//                "lag_s", "behind_rank", "is_whole", "calls", "ns", "recent_ns", "unassigned_ns",
//                "unmatched_ends", "late_calls",
//                "patterns": [{"pattern", "title", "ns", "count", "recent_ns", "recent_count"}],
//                "ranks", "by_rank": {"rank": [], "waiting_ns": [], "causing_ns": [],
//                "recent_waiting_ns": [], "recent_causing_ns": []}}    most first, at most 64
//      "answers": {"plug-in": "text"}
//   }], "plugins": [{"name", "disabled", "why", "looks", "missed"}]}
//
// Columns by rank, because there may be thousands. `blocked_s` is the time that the program waited
// for the watcher: none, as it does not know of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "online/job_now.h"
#include "online/plugins/plugin_host.h"

namespace refrain::online {

// One line, without its newline.
std::string state_json(const std::vector<JobNow>& jobs, uint64_t look, uint64_t time_ns, size_t top,
                       const std::vector<PluginNow>& plugins = {});

// One object of its jobs[]; {"plug-in": "its answer"}.
std::string job_text(const JobNow& job, size_t top);
std::string answers_text(const std::vector<std::pair<std::string, std::string>>& answers);

// {"jobs": [...]}, each job with `name`, `state`, `ranks`, `calls`, `calls_per_s`,
// `event_bytes_per_s`, `stream_bytes`, `lag_s`, `blocked_s`, `losses`, `stuck`, `nobody_moves`,
// `circle`,
// `story`, `loop`, `waits` of the above: what programs can rely on. One line, without its newline.
std::string summary_json(const std::vector<JobNow>& jobs);

// The text format of Prometheus: a sample of each number for each job.
std::string metrics_text(const std::vector<JobNow>& jobs);

}  // namespace refrain::online
