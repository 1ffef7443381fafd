#include "report/cores_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/escape.h"
#include "text/numbers.h"

namespace refrain::report {

using analysis::CoreUse;
using analysis::HostKind;
using Json = nlohmann::ordered_json;

namespace {

std::string host_name(const Trace& trace, uint64_t host) {
  const auto& hosts = trace.info().hosts;
  return host < hosts.size() ? text::printable(hosts[host]) : "?";
}

// "host n1", "each of 12 hosts (n1, ...)"
std::string hosts_of(const Trace& trace, const HostKind& kind) {
  const std::string first = host_name(trace, kind.hosts[0]);
  if (kind.hosts.size() == 1) return "host " + first;
  return fmt::format("each of {} ({}, ...)", text::counted_text(kind.hosts.size(), "host"), first);
}

const HostKind* most_crowded(const CoreUse& use) {
  const auto most = std::max_element(
      use.kinds.begin(), use.kinds.end(),
      [](const auto& a, const auto& b) { return a.most_waiting < b.most_waiting; });
  return most == use.kinds.end() || most->crowded_ranks == 0 ? nullptr : &*most;
}

}  // namespace

std::string crowding_text(const Trace& trace, const CoreUse& use) {
  const HostKind* const most = most_crowded(use);
  if (most == nullptr) return "";
  const uint64_t kinds = static_cast<uint64_t>(std::count_if(
      use.kinds.begin(), use.kinds.end(), [](const HostKind& k) { return k.crowded_ranks > 0; }));
  std::string out = fmt::format(
      "More ranks than cores: {} share {} on {}{}. Waiting for a core looks like waiting for a "
      "rank, and may be up to {:.0f} % of the time of all ranks",
      text::counted_text(most->crowded_ranks, "rank"),
      text::counted_text(most->crowded_cores, "core"), hosts_of(trace, *most),
      kinds > 1 ? ", and others elsewhere" : "", 100 * use.most_waiting);
  if (use.involuntary_switches.value_or(0) > 0)
    out += fmt::format("; a core was taken from a rank {} times",
                       text::count_text(*use.involuntary_switches));
  return out + ".";
}

std::string cores_text(const Trace& trace, const CoreUse& use, const std::string& newline) {
  constexpr size_t kShown = 6;
  std::string out;
  for (size_t i = 0; i < std::min(use.kinds.size(), kShown); ++i) {
    const HostKind& k = use.kinds[i];
    if (i > 0) out += newline;
    out += text::counted_text(k.cores, "core");
    if (k.usable_cores < k.cores) out += fmt::format(", {} for the ranks", k.usable_cores);
    out += fmt::format(", {}", text::counted_text(k.ranks, "rank"));
    if (use.kinds.size() > 1 || k.hosts.size() > 1) out += " on " + hosts_of(trace, k);
    if (k.crowded_ranks > 0)
      out += fmt::format(": {} share {}", text::counted_text(k.crowded_ranks, "rank"),
                         text::counted_text(k.crowded_cores, "core"));
  }
  if (use.kinds.size() > kShown)
    out += fmt::format("{}and {}", newline,
                       text::counted_text(use.kinds.size() - kShown, "more kind of hosts"));
  return out;
}

Json cores_json(const Trace& trace, const CoreUse& use) {
  if (use.kinds.empty()) return {};
  Json kinds = Json::array();
  for (const HostKind& k : use.kinds)
    kinds.push_back({{"hosts", k.hosts.size()},
                     {"first_host", host_name(trace, k.hosts[0])},
                     {"cores", k.cores},
                     {"usable_cores", k.usable_cores},
                     {"ranks", k.ranks},
                     {"crowded_ranks", k.crowded_ranks},
                     {"crowded_cores", k.crowded_cores},
                     {"most_waiting_share", k.most_waiting}});
  const Json switches = use.involuntary_switches ? Json(*use.involuntary_switches) : Json();
  return {{"by_host", std::move(kinds)},
          {"crowded_ranks", use.crowded_ranks},
          {"most_waiting_share", use.most_waiting},
          {"involuntary_switches", switches}};
}

}  // namespace refrain::report
