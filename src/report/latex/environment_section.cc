// What ran, where, and what recording it cost.

#include <algorithm>
#include <set>

#include "report/latex/tex_sections.h"
#include "report/latex/tex_table.h"
#include "report/latex/tex_text.h"

namespace refrain::report::latex {
namespace {

constexpr size_t kMostHosts = 40;
constexpr size_t kMostEntries = 60;

using Text = std::string (*)(const Json&);

std::string spread(const Json& s, Text how) {
  return how(s["mean"]) + " a rank, " + how(s["least"]) + " (rank " + count(s["least_rank"]) +
         ") to " + how(s["greatest"]) + " (rank " + count(s["greatest_rank"]) + ")";
}

std::string value_text(const std::string& key, const Json& value) {
  if (key.size() > 3 && key.ends_with("_ns")) return duration(value);
  if (key.ends_with("_bytes")) return bytes(value);
  if (value.is_number()) return count(value);
  return code(text(value), 600);
}

// Most are ours; others may hold anything.
std::string key_text(const std::string& key) {
  const std::string out = words(key);
  return out == key ? out : code(key, 60);
}

void put_cost(const Json& info, TexTable& table) {
  if (!info.contains("recorder_cost")) return;
  const Json& cost = info["recorder_cost"];
  table.row({"time of the recorder", spread(cost["time_ns"], duration)});
  table.row({"memory of the recorder", spread(cost["memory_bytes"], bytes)});
  if (const double run = real(info["duration_ns"]); run > 0)
    table.row({"overhead of the recorder", share(real(cost["time_ns"]["mean"]) / run) +
                                               " of the run, on the mean of its ranks"});
}

void put_cores(const Json& info, TexTable& table) {
  if (!info.contains("cores")) return;
  for (const Json& kind : info["cores"]["by_host"])
    table.row({"cores", count(kind["cores"]) + " on " + count(kind["hosts"]) +
                            " host(s), the first " + code(text(kind["first_host"]), 80) + "; " +
                            count(kind["usable_cores"]) + " for the " + count(kind["ranks"]) +
                            " ranks of each"});
  if (const Json& switches = info["cores"]["involuntary_switches"]; !switches.is_null())
    table.row({"involuntary switches", count(switches)});
}

void put_programs(const Json& info, TexTable& table) {
  if (info["programs"].size() > 1)
    for (const Json& p : info["programs"])
      table.row({"program of ranks " + code(text(p["ranks"]), 60),
                 code(text(p["program"]), 200) + ": " + code(text(p["command"]), 200)});
  if (!info.contains("spawned")) return;
  for (const Json& job : info["spawned"])
    table.row({"spawned", (job["trace"].is_null() ? std::string("no trace known")
                                                  : code(text(job["trace"]), 200)) +
                              ": " + count(job["processes"]) + " of " +
                              code(text(job["command"]), 200) + ", by rank " + count(job["rank"])});
}

}  // namespace

void put_environment(const PageData& data, std::string& out) {
  const Json& info = data.json["info"];
  // Shown in their own way, or elsewhere.
  const std::set<std::string> own = {"groups",   "losses",   "recorder_cost", "hosts",
                                     "times",    "segments", "plain_trace",   "cores",
                                     "programs", "spawned"};
  out += section("Environment",
                 "Look here first when two runs differ: another library, other hosts, another "
                 "command.");
  TexTable table({{"", 38}, {"", 128}});
  table.row({"trace", code(text(data.json["trace"]), 400)});
  size_t shown = 0, left_out = 0;
  for (const auto& [key, value] : info.items()) {
    if (own.contains(key) || text(value).empty()) continue;
    if (++shown > kMostEntries) {
      ++left_out;
      continue;
    }
    std::string name = key.ends_with("_ns") ? key.substr(0, key.size() - 3) : key;
    std::replace(name.begin(), name.end(), '_', ' ');
    table.row({key_text(name), value_text(key, value)});
  }
  put_programs(info, table);
  const Json& hosts = info["hosts"];
  std::string names;
  for (size_t i = 0; i < std::min(hosts.size(), kMostHosts); ++i)
    names += (i == 0 ? "" : ", ") + code(text(hosts[i]), 80);
  if (hosts.size() > kMostHosts) names += " and " + count(hosts.size() - kMostHosts) + " more";
  table.row({"hosts", names});
  put_cores(info, table);
  put_cost(info, table);
  if (info.contains("times"))
    table.row({"times",
               bytes(info["times"]["bytes"]) + " for " + count(info["times"]["calls"]) + " calls"});
  if (info.contains("segments"))
    table.row({"segments", code(text(info["segments"]["method"])) + ": " +
                               count(info["segments"]["representatives"]) + " representatives of " +
                               count(info["segments"]["segments"]) + " segments"});
  if (info.contains("plain_trace")) {
    const Json& plain = info["plain_trace"];
    const bool written = plain["write"].get<bool>();
    table.row({"conventional trace",
               bytes(plain["bytes"]) + " in " + count(plain["flushes"]) + " flushes of " +
                   bytes(plain["buffer_bytes"]) + ", " +
                   (written ? duration(plain["write_ns"]) : std::string("thrown away"))});
  }
  table.more(left_out, "properties");
  out += table.text();
}

}  // namespace refrain::report::latex
