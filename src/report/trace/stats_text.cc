#include "report/trace/stats_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "format/trace_data.h"
#include "reader/internal.h"
#include "report/trace/gaps_text.h"
#include "report/trace/grammars.h"
#include "text/numbers.h"

namespace refrain::report {

namespace {

double ratio(double a, double b) { return b > 0 ? a / b : 0; }

double plain_list_bytes(const Trace& trace) {
  double bytes = 0;
  for (GroupId g = 0; g < trace.group_count(); ++g) {
    double of_rank = 0;
    for (const Trace::Occurrence& o : trace.occurrences(g)) {
      const auto signature = reader::data_of(trace).signatures[o.signature];
      of_rank += static_cast<double>(o.calls) *
                 static_cast<double>(signature.shape.size() + signature.slots.size());
    }
    bytes += of_rank * static_cast<double>(trace.group_size(g));
  }
  return bytes;
}

}  // namespace

TraceStats count_stats(const Trace& trace) {
  const format::TraceData& data = reader::data_of(trace);
  TraceStats stats;
  stats.file_bytes = trace.info().file_bytes;
  stats.calls = trace.call_count();
  stats.signatures = data.signatures.size();
  for (const auto& signature : data.signatures) {
    stats.signature_bytes += signature.shape.size();
    stats.expressions += signature.slots.size();
  }
  stats.tables = data.tables.size();
  for (const base::RunList& table : data.tables) {
    stats.table_values += table.size();
    stats.table_runs += table.runs().size();
  }
  const GrammarCount grammars = count_grammars(data.grammars);
  stats.grammars = grammars.grammars;
  stats.rules = grammars.rules;
  stats.symbols = grammars.symbols;
  stats.groups = data.groups.size();
  stats.definitions = data.definitions.size();
  stats.plain_list_bytes = plain_list_bytes(trace);
  constexpr size_t kMostRows = 10;
  if (trace.has_gaps()) stats.gaps_json = gaps_json(trace);
  stats.gaps_text = gaps_text(trace, kMostRows);
  return stats;
}

std::string stats_json(const TraceStats& stats) {
  nlohmann::ordered_json sections = nlohmann::ordered_json::array();
  for (const SectionBytes& section : stats.sections)
    sections.push_back({{"section", section.name},
                        {"raw_bytes", section.raw_bytes},
                        {"stored_bytes", section.stored_bytes}});
  nlohmann::ordered_json out = {
      {"file_bytes", stats.file_bytes},
      {"calls", stats.calls},
      {"bytes_per_call",
       ratio(static_cast<double>(stats.file_bytes), static_cast<double>(stats.calls))},
      {"plain_list_bytes", stats.plain_list_bytes},
      {"ratio_to_plain_list", ratio(stats.plain_list_bytes, static_cast<double>(stats.file_bytes))},
      {"signatures", stats.signatures},
      {"signature_bytes", stats.signature_bytes},
      {"expressions", stats.expressions},
      {"tables", stats.tables},
      {"table_values", stats.table_values},
      {"table_runs", stats.table_runs},
      {"grammars", stats.grammars},
      {"rules", stats.rules},
      {"symbols", stats.symbols},
      {"groups", stats.groups},
      {"definitions", stats.definitions},
      {"sections", sections}};
  if (!stats.gaps_json.empty()) out["gaps"] = nlohmann::ordered_json::parse(stats.gaps_json);
  return out.dump(2) + "\n";
}

std::string stats_text(const TraceStats& stats) {
  const auto file = static_cast<double>(stats.file_bytes);
  std::string out =
      fmt::format("{:<14} {:>12} {:>12} {:>7}\n", "section", "raw bytes", "stored", "share");
  double listed = 0;
  for (const SectionBytes& section : stats.sections) {
    listed += section.stored_bytes;
    out += fmt::format("{:<14} {:>12} {:>12} {:>5.1f} %\n", section.name,
                       text::count_text(section.raw_bytes),
                       text::count_text(text::rounded(section.stored_bytes)),
                       100 * ratio(section.stored_bytes, file));
  }
  const double rest = file - listed;
  out += fmt::format("{:<14} {:>12} {:>12} {:>5.1f} %\n", "header, table", "",
                     text::count_text(text::rounded(rest)), 100 * ratio(rest, file));
  out += fmt::format("{:<14} {:>12} {:>12} {:>5.1f} %\n\n", "file", "",
                     text::count_text(stats.file_bytes), 100.0);
  out += fmt::format("{}, {} bytes a call\n", text::counted_text(stats.calls, "call"),
                     text::ratio_text(ratio(file, static_cast<double>(stats.calls))));
  out += fmt::format("a plain list of them takes at least {}, {} times as many\n",
                     text::counted_text(text::rounded(stats.plain_list_bytes), "byte"),
                     text::ratio_text(ratio(stats.plain_list_bytes, file)));
  out += fmt::format("{} ({}, {})\n", text::counted_text(stats.signatures, "signature"),
                     text::counted_text(stats.signature_bytes, "byte"),
                     text::counted_text(stats.expressions, "rank expression"));
  out += fmt::format("{} of ranks, {}\n", text::counted_text(stats.groups, "group"),
                     text::counted_text(stats.definitions, "definition"));
  out += fmt::format("{} with {} and {}\n", text::counted_text(stats.grammars, "grammar"),
                     text::counted_text(stats.rules, "rule"),
                     text::counted_text(stats.symbols, "symbol"));
  out += fmt::format("{} with {} in {}\n", text::counted_text(stats.tables, "table"),
                     text::counted_text(stats.table_values, "value"),
                     text::counted_text(stats.table_runs, "run"));
  return out + stats.gaps_text;
}

}  // namespace refrain::report
