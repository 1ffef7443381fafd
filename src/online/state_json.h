// A job as JSON: the object of `live watch --format json`, of /state.json and of the page's events.
//
//   {"look": n, "time_ns": wall clock, "jobs": [{
//      "name", "state", "ranks": world size, "found": ranks that have a spool, "calls",
//      "calls_per_s", "event_bytes_per_s", "stream_bytes", "spool_bytes", "lag_s", "blocked_s": 0,
//      "running_s", "story", "nobody_moves",
//      "losses": [{"reason", "calls", "rank", "detail"}],
//      "stuck": [{"call", "ranks": [...], "since_s"}],
//      "functions": [{"call", "count", "time_ns", "bytes"}]   as `profile`, the `top` by time,
//      "by_rank": {"rank": [], "calls": [], "state": [], "call": [], "since_s": []}
//   }]}
//
// Columns by rank, because there may be thousands. `blocked_s` is the time that the program waited
// for the watcher: none, as it does not know of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "online/job_now.h"

namespace refrain::online {

// One line, without its newline.
std::string state_json(const std::vector<JobNow>& jobs, uint64_t look, uint64_t time_ns,
                       size_t top);

// {"jobs": [...]}, each job with `name`, `state`, `ranks`, `calls`, `calls_per_s`,
// `event_bytes_per_s`, `stream_bytes`, `lag_s`, `blocked_s`, `losses`, `stuck` of the above: what
// programs can rely on. One line, without its newline.
std::string summary_json(const std::vector<JobNow>& jobs);

// The text format of Prometheus: a sample of each number for each job.
std::string metrics_text(const std::vector<JobNow>& jobs);

}  // namespace refrain::online
