#include "report/trace/info_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "format/codes/quantise.h"
#include "format/time/spec.h"
#include "format/trace_data.h"
#include "reader/internal.h"
#include "reader/time_store.h"
#include "report/behaviour/reduce_report.h"
#include "report/cores_text.h"
#include "report/labelled_line.h"
#include "report/profile/posix_report.h"
#include "report/profile/programs_text.h"
#include "report/stood_for.h"
#include "report/trace/gaps_text.h"
#include "report/trace/grammars.h"
#include "report/trace/plain_trace.h"
#include "text/display.h"
#include "text/escape.h"
#include "text/numbers.h"

namespace refrain::report {

namespace {

using nlohmann::ordered_json;

struct Times {
  uint64_t in_mpi_ns = 0, outside_ns = 0, recorder_ns = 0;  // of all ranks
  double all_ns() const {
    return static_cast<double>(in_mpi_ns) + static_cast<double>(outside_ns) +
           static_cast<double>(recorder_ns);
  }
};

Times times_of(const Trace& trace) {
  Times times;
  for (const format::RankTotals& totals : reader::data_of(trace).totals) {
    times.in_mpi_ns += totals.in_mpi_ns;
    times.outside_ns += totals.outside_ns;
    times.recorder_ns += totals.own_ns;
  }
  return times;
}

uint64_t calls_per_rank(const Trace& trace, GroupId group) {
  uint64_t calls = 0;
  for (const Location& location : trace.group_locations(group)) calls += location.calls;
  return calls;
}

ordered_json losses_json(const RunInfo& info) {
  ordered_json losses = ordered_json::array();
  for (const Loss& loss : info.losses) {
    ordered_json entry = {{"reason", loss.reason}};
    if (loss.calls > 0) entry["calls"] = loss.calls;
    if (loss.rank >= 0) entry["rank"] = loss.rank;
    if (!loss.detail.empty()) entry["detail"] = loss.detail;
    losses.push_back(std::move(entry));
  }
  return losses;
}

ordered_json spread_json(const format::Spread& spread, uint64_t ranks) {
  return {{"least", spread.least},
          {"least_rank", spread.least_rank},
          {"mean", format::whole_of(spread.sum / static_cast<double>(ranks))},
          {"greatest", spread.greatest},
          {"greatest_rank", spread.greatest_rank}};
}

std::string spread_text(const format::Spread& spread, uint64_t ranks,
                        std::string (*text)(uint64_t)) {
  const uint64_t mean = format::whole_of(spread.sum / static_cast<double>(ranks));
  if (text(mean) == text(spread.greatest)) return text(mean);
  return fmt::format("{} (up to {}, rank {})", text(mean), text(spread.greatest),
                     spread.greatest_rank);
}

std::string cost_text(const format::RecorderCost& cost) {
  if (cost.ranks == 0) return {};
  return fmt::format("a rank: {} and {}",
                     spread_text(cost.time_ns, cost.ranks, text::duration_text),
                     spread_text(cost.memory_bytes, cost.ranks, text::bytes_text));
}

// Of the ranks that know it; empty for a trace that has the spreads only.
ordered_json costs_json(const Trace& trace) {
  ordered_json ranks = ordered_json::array();
  const std::vector<format::RankTotals>& totals = reader::data_of(trace).totals;
  for (size_t r = 0; r < totals.size(); ++r) {
    const format::OwnCost& cost = totals[r].cost;
    if (cost.memory_bytes == 0) continue;
    ranks.push_back({{"rank", r}, {"memory_bytes", cost.memory_bytes}, {"time_ns", cost.time_ns}});
  }
  return ranks;
}

ordered_json groups_json(const Trace& trace) {
  ordered_json groups = ordered_json::array();
  for (GroupId g = 0; g < trace.group_count(); ++g) {
    const format::Group& group = reader::data_of(trace).groups[g];
    groups.push_back({{"ranks", text::rank_list_text(group.ranks, SIZE_MAX)},
                      {"rank_count", group.ranks.size()},
                      {"threads", group.locations.size()},
                      {"calls_per_rank", calls_per_rank(trace, g)},
                      {"signatures", group.signatures.size()}});
  }
  return groups;
}

void add_known(std::string& out, std::string_view label, std::string_view value) {
  if (!value.empty()) add_line(out, label, value, kLongLabel);
}

// ", 4.25 a call"; empty where there is none.
std::string per_call(uint64_t bytes, uint64_t calls) {
  if (calls == 0) return {};
  return ", " + text::ratio_text(static_cast<double>(bytes) / static_cast<double>(calls)) +
         " a call";
}

std::string timing_text(const Trace& trace) {
  if (!trace.has_times()) return std::string(trace.info().text_of("timing"));
  const auto spec = reader::time_spec_of(trace);
  const auto size = trace.time_size();
  if (!spec.ok() || !size.ok()) return "damaged; `refrain check` says where";
  std::string text =
      fmt::format("{}: {} bytes in {}", spec->to_string(), text::count_text(size->bytes),
                  text::counted_text(size->blocks, "block"));
  return text + per_call(size->bytes, size->calls);
}

// Of reduced times; else nullptr.
const format::SegmentInfo* segments_of(const Trace& trace) {
  if (!trace.has_times()) return nullptr;
  const auto table = reader::time_table(trace);
  if (!table.ok() || (*table)->spec().mode != format::TimeMode::kSegments) return nullptr;
  return &(*table)->segments();
}

ordered_json segments_json(const format::SegmentInfo& info, const std::string& method) {
  return {{"method", method},
          {"threshold_in_force", info.threshold},
          {"loosenings", info.loosenings},
          {"source", source_name(info.source)},
          {"across_ranks", across_name(info.across)},
          {"start_step_ns", info.step_ns},
          {"segments", info.segments},
          {"representatives", info.representatives},
          {"contexts", info.contexts},
          {"degree_of_matching", info.degree_of_matching()},
          {"error_ns", info.error_ns},
          {"relative_error", info.relative_error}};
}

std::string hosts_text(const std::vector<std::string>& hosts) {
  constexpr size_t kShown = 4;
  std::string text;
  for (size_t i = 0; i < std::min(hosts.size(), kShown); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ", ", hosts[i]);
  if (hosts.size() > kShown) text += fmt::format(" and {} more", hosts.size() - kShown);
  return text;
}

void add_cores(std::string& out, const Trace& trace) {
  const analysis::CoreUse use = analysis::core_use(trace);
  if (use.kinds.empty()) return;
  out += fmt::format("  {:<12} {}\n", "cores", cores_text(trace, use, "\n               "));
  if (!use.involuntary_switches) return;
  add_known(out, "switches",
            text::count_text(*use.involuntary_switches) +
                " times a core was taken from a rank that could have gone on");
}

std::string losses_text(const RunInfo& info) {
  std::string text;
  for (const Loss& loss : info.losses) {
    if (format::stands_for_nobody(loss.reason, loss.calls)) continue;
    if (!text.empty()) text += "\n               ";
    text += text::printable(loss.reason);
    if (loss.calls > 0) text += ", " + text::counted_text(loss.calls, "call");
    if (loss.rank >= 0) text += fmt::format(", rank {}", loss.rank);
    if (!loss.detail.empty()) text += ": " + text::printable(loss.detail);
  }
  return text.empty() ? "none" : text;
}

std::string groups_text(const Trace& trace) {
  constexpr GroupId kShown = 12;
  std::string text = fmt::format("  {:>6} {:>7} {:>14} {:>10}  {}\n", "group", "ranks",
                                 "calls per rank", "signatures", "which");
  for (GroupId g = 0; g < std::min(trace.group_count(), kShown); ++g) {
    const format::Group& group = reader::data_of(trace).groups[g];
    text += fmt::format("  {:>6} {:>7} {:>14} {:>10}  {}\n", g, group.ranks.size(),
                        text::count_text(calls_per_rank(trace, g)), group.signatures.size(),
                        text::rank_list_text(group.ranks, 6));
  }
  if (trace.group_count() > kShown)
    text += fmt::format("  ... and {}\n",
                        text::counted_text(trace.group_count() - kShown, "more group"));
  return text;
}

}  // namespace

std::string info_json(const Trace& trace) {
  const RunInfo& info = trace.info();
  const Times times = times_of(trace);
  ordered_json out;
  out["program"] = info.text_of("program");
  out["command"] = info.text_of("command");
  add_programs(out, trace);
  out["mpi"] = info.text_of("mpi");
  out["mpi_version"] = info.text_of("mpi_version");
  out["ranks"] = info.rank_count;
  out["calls"] = trace.call_count();
  out["duration_ns"] = info.duration_ns;
  out["in_mpi_ns"] = times.in_mpi_ns;
  out["outside_ns"] = times.outside_ns;
  if (!reader::data_of(trace).places.empty() || times.recorder_ns > 0)
    out["recorder_in_run_ns"] = times.recorder_ns;
  out["file_bytes"] = info.file_bytes;
  if (const format::RecorderCost& cost = reader::data_of(trace).cost; cost.ranks > 0)
    out["recorder_cost"] = {{"ranks", cost.ranks},
                            {"memory_bytes", spread_json(cost.memory_bytes, cost.ranks)},
                            {"time_ns", spread_json(cost.time_ns, cost.ranks)},
                            {"by_rank", costs_json(trace)}};
  out["complete"] = info.complete;
  out["losses"] = losses_json(info);
  out["signatures"] = uint32_t{trace.signature_count()};
  out["rules"] = count_grammars(reader::data_of(trace).grammars).rules;
  out["grammars"] = count_grammars(reader::data_of(trace).grammars).grammars;
  out["definitions"] = uint32_t{trace.definition_count()};
  out["hosts"] = info.hosts;
  if (auto cores = cores_json(trace, analysis::core_use(trace)); !cores.is_null())
    out["cores"] = std::move(cores);
  if (const auto plain = parse_plain_trace(info.text_of("plain_trace")))
    out["plain_trace"] = plain_trace_json(*plain);
  for (const auto& [key, value] : info.text)
    if (!out.contains(key)) out[key] = value;
  out["format"] = fmt::format("{}.{}", info.format_major, info.format_minor);
  if (const auto size = trace.time_size(); trace.has_times() && size.ok()) {
    if (const auto spec = reader::time_spec_of(trace); spec.ok()) out["timing"] = spec->to_string();
    out["times"] = {{"bytes", size->bytes}, {"blocks", size->blocks}, {"calls", size->calls}};
    if (const format::SegmentInfo* segments = segments_of(trace))
      out["segments"] = segments_json(*segments, (*reader::time_table(trace))->spec().method);
  }
  out["has_gaps"] = trace.has_gaps();
  if (analysis::has_posix(trace)) out["has_posix"] = true;
  if (auto clusters = clustering_json(trace); !clusters.is_null()) {
    out["clusters"] = std::move(clusters);
    add_stood_for(out, trace, MadeOf::kSums);
  }
  out["groups"] = groups_json(trace);
  return out.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string info_text(const Trace& trace) {
  const RunInfo& info = trace.info();
  const Times times = times_of(trace);
  std::string out = text::printable(trace.name()) + "\n";
  out += programs_lines(trace);
  add_known(out, "started", info.text_of("started"));
  add_known(out, "directory", info.text_of("working_directory"));
  const std::string_view version = info.text_of("mpi_version");
  add_known(out, "mpi",
            fmt::format("{}{}{}", info.text_of("mpi"), version.empty() ? "" : " ", version));
  add_known(out, "built with", info.text_of("built_with"));
  add_known(out, "ranks",
            fmt::format("{} on {} ({})", text::count_text(info.rank_count),
                        text::counted_text(info.hosts.size(), "host"), hosts_text(info.hosts)));
  add_cores(out, trace);
  add_known(out, "calls", text::count_text(trace.call_count()));
  std::string duration = text::duration_text(info.duration_ns);
  if (times.all_ns() > 0)
    duration += fmt::format(", {:.1f} % of it in MPI",
                            100.0 * static_cast<double>(times.in_mpi_ns) / times.all_ns());
  add_known(out, "duration", duration);
  const std::string size =
      text::count_text(info.file_bytes) + " bytes" + per_call(info.file_bytes, trace.call_count());
  add_known(out, "file",
            fmt::format("{}, format {}.{}", size, info.format_major, info.format_minor));
  const GrammarCount grammars = count_grammars(reader::data_of(trace).grammars);
  add_known(
      out, "content",
      fmt::format("{}, {} in {}, {}", text::counted_text(trace.signature_count(), "signature"),
                  text::counted_text(grammars.rules, "rule"),
                  text::counted_text(grammars.grammars, "grammar"),
                  text::counted_text(trace.definition_count(), "definition")));
  add_known(out, "recording", cost_text(reader::data_of(trace).cost));
  if (times.recorder_ns > 0)
    add_known(
        out, "in the run",
        fmt::format("{} of that on all ranks together, {:.1f} % of their time: neither MPI nor "
                    "computation",
                    text::duration_text(times.recorder_ns),
                    100.0 * static_cast<double>(times.recorder_ns) / times.all_ns()));
  add_known(out, "timing", timing_text(trace));
  add_known(out, "gaps", gaps_line(trace));
  add_known(out, "POSIX", posix_line(analysis::posix_profile(trace)));
  if (const auto plain = parse_plain_trace(info.text_of("plain_trace")))
    add_known(out, "no-compress", plain_trace_text(*plain));
  if (const format::SegmentInfo* segments = segments_of(trace))
    add_known(out, "segments", segments_text(*segments));
  add_known(out, "filter", info.text_of("filter"));
  if (info.text_of("totals") == "off")
    add_known(out, "totals", "left out: times in MPI and outside, cost and switches of each rank");
  out += clustering_text(trace);
  out += spawned_lines(trace);
  add_known(out, "complete", info.complete ? "yes" : "NO");
  out += fmt::format("  {:<{}} {}\n", "losses", kLongLabel, losses_text(info));
  return fitted_lines(out, kLongLabel) + "\n" + groups_text(trace);
}

}  // namespace refrain::report
