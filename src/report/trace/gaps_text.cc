#include "report/trace/gaps_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analysis/gaps.h"
#include "report/profile/profile_rows.h"
#include "text/numbers.h"
#include "text/site_names.h"
#include "text/table.h"

namespace refrain::report {

namespace {

// Buckets with calls: where each begins, in ns, and how many.
nlohmann::ordered_json buckets(const std::vector<uint64_t>& histogram) {
  auto out = nlohmann::ordered_json::array();
  for (size_t i = 0; i < histogram.size(); ++i)
    if (histogram[i] > 0) out.push_back({i == 0 ? 0 : uint64_t{1} << i, histogram[i]});
  return out;
}

// What a damaged trace says may be of any size.
std::string ns_text(double ns) {
  return text::duration_text(ns < 0x1p63 ? static_cast<uint64_t>(ns) : UINT64_MAX);
}

}  // namespace

std::string gaps_json(const Trace& trace) {
  auto out = nlohmann::ordered_json::array();
  text::SiteNames sites(trace, true);
  for (const analysis::GapRow& row : analysis::gaps(trace))
    out.push_back({{"signature", static_cast<uint32_t>(row.signature)},
                   {"call", call_name(row.call)},
                   {"site", sites.name(row.site)},
                   {"calls", row.gaps.count},
                   {"sum_ns", row.gaps.sum_ns},
                   {"mean_ns", row.mean_ns()},
                   {"min_ns", row.gaps.min_ns},
                   {"max_ns", row.gaps.max_ns},
                   {"histogram", buckets(row.histogram)}});
  return out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string gaps_text(const Trace& trace, size_t most) {
  const std::vector<analysis::GapRow> rows = analysis::gaps(trace);
  if (rows.empty()) return {};
  text::SiteNames sites(trace, true);
  const size_t shown = std::min(most, rows.size());
  text::Table table({"in all", "mean", "least", "most", "calls", "<time before the call"});
  table.can_leave_out({"least", "most", "calls"});
  for (size_t i = 0; i < shown; ++i) {
    const analysis::GapRow& row = rows[i];
    table.add({ns_text(row.gaps.sum_ns), ns_text(row.mean_ns()),
               text::duration_text(row.gaps.min_ns), text::duration_text(row.gaps.max_ns),
               text::count_text(row.gaps.count),
               fmt::format("{} {}", call_name(row.call), sites.name(row.site))});
  }
  std::string out = "\n" + table.text();
  if (shown < rows.size())
    out += fmt::format("and {} with less\n", text::counted_text(rows.size() - shown, "signature"));
  return out;
}

std::string gaps_line(const Trace& trace) {
  if (!trace.has_gaps()) return {};
  Durations all;
  for (SignatureId id = 0; id < trace.signature_count(); ++id) {
    all.count += trace.gaps(id).count;
    all.sum_ns += trace.gaps(id).sum_ns;
  }
  const double mean = all.count == 0 ? 0 : all.sum_ns / static_cast<double>(all.count);
  return fmt::format("{} before {}, {} in the mean", ns_text(all.sum_ns),
                     text::counted_text(all.count, "call"), ns_text(mean));
}

}  // namespace refrain::report
