#include "report/behaviour/reduce_report.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "report/labelled_line.h"
#include "text/escape.h"
#include "text/numbers.h"

namespace refrain::report {

namespace {

using Json = nlohmann::ordered_json;

}  // namespace

std::string_view source_name(format::SegmentSource source) {
  return source == format::SegmentSource::kMarks ? "marks" : "loops";
}

std::string_view across_name(format::AcrossRanks across) {
  switch (across) {
    case format::AcrossRanks::kOff: return "off";
    case format::AcrossRanks::kGroups: return "groups";
    case format::AcrossRanks::kSegments: return "segments";
  }
  return "";
}

std::string segments_text(const format::SegmentInfo& info) {
  std::string text =
      fmt::format("{} of {} stand for {}, {:.1f} % of what could match",
                  text::count_text(info.representatives), source_name(info.source),
                  text::counted_text(info.segments, "segment"), 100 * info.degree_of_matching());
  if (info.across != format::AcrossRanks::kOff)
    text += fmt::format(", across ranks by {}", across_name(info.across));
  text += "; no time is off by more than " + text::duration_text(info.error_ns);
  if (info.loosenings > 0)
    text += fmt::format("; threshold loosened {} for want of memory, to {:.4g}",
                        text::counted_text(info.loosenings, "time"), info.threshold);
  return text;
}

std::vector<std::string> reduce_remarks(const analysis::reduce::Reduction& reduction) {
  std::vector<std::string> lines = describe(reduction.marks);
  if (reduction.divided > 0 && reduction.marks.divided == 0)
    lines.push_back(fmt::format("{} had too many calls and {} divided",
                                text::counted_text(reduction.divided, "segment"),
                                reduction.divided == 1 ? "was" : "were"));
  if (reduction.missing_calls > 0)
    lines.push_back(text::counted_text(reduction.missing_calls, "call") +
                    " had no time before and have none now");
  if (reduction.spilled > 0)
    lines.push_back(text::counted_text(reduction.spilled, "representative") +
                    " did not fit the memory and stood for no more segments from then on");
  return lines;
}

std::string reduce_text(const ReduceView& view) {
  const format::SegmentInfo& info = view.reduction.times.index.segments;
  std::string out = text::printable(view.output) + "\n";
  add_line(out, "method", view.reduction.times.index.spec.method);
  add_line(out, "segments",
           fmt::format("{} in {}, from {}, starts kept to {} ns",
                       text::counted_text(info.segments, "segment"),
                       text::counted_text(info.contexts.size(), "context"),
                       source_name(info.source), text::count_text(info.step_ns)));
  add_line(out, "kept",
           fmt::format("{}, {:.1f} % of what could match did",
                       text::counted_text(info.representatives, "representative"),
                       100 * info.degree_of_matching()));
  add_line(out, "across",
           info.across == format::AcrossRanks::kOff
               ? "off"
               : fmt::format("{}: {} in {}", across_name(info.across),
                             text::counted_text(view.reduction.locations, "location"),
                             text::counted_text(view.reduction.groups, "group")));
  if (info.loosenings > 0)
    add_line(out, "loosened",
             fmt::format("{} for want of memory, threshold now {:.4g}",
                         text::counted_text(info.loosenings, "time"), info.threshold));
  add_line(out, "file",
           fmt::format("{} of {} bytes, {}", text::count_text(view.bytes_after),
                       text::count_text(view.bytes_before),
                       text::percent_text(static_cast<double>(view.bytes_after),
                                          static_cast<double>(view.bytes_before))));
  add_line(out, "times",
           fmt::format("{} of {} bytes, {}", text::count_text(view.times_after),
                       text::count_text(view.times_before),
                       text::percent_text(static_cast<double>(view.times_after),
                                          static_cast<double>(view.times_before))));
  add_line(out, "distance",
           fmt::format("90 % of time stamps within {}, all within {}",
                       text::duration_text(text::rounded(view.distance_ns)),
                       text::duration_text(text::rounded(view.largest_ns))));
  if (view.reduction.attempts > 0)
    add_line(out, "trends",
             (view.reduction.lost.empty() ? "retained" : view.reduction.lost) + ", after " +
                 text::counted_text(view.reduction.attempts, "threshold"));
  for (const std::string& line : reduce_remarks(view.reduction)) add_line(out, "remark", line);
  // Times that hardly differ, as of polls, take less when all are kept than when some stand for
  // others.
  if (view.bytes_after >= view.bytes_before)
    add_line(out, "remark",
             "no smaller than the trace that it was made from, which has all times: keep that one, "
             "or allow a larger error (--max-error)");
  return fitted_lines(out);
}

std::string reduce_json(const ReduceView& view) {
  const analysis::reduce::Reduction& r = view.reduction;
  const format::SegmentInfo& info = r.times.index.segments;
  Json out;
  out["trace"] = view.trace.name();
  out["output"] = view.output;
  out["method"] = r.times.index.spec.method;
  out["threshold_in_force"] = info.threshold;
  out["loosenings"] = info.loosenings;
  if (r.attempts > 0) {
    out["thresholds_tried"] = r.attempts;
    out["trends_lost"] = r.lost;
  }
  out["segment_source"] = source_name(info.source);
  out["across_ranks"] = across_name(info.across);
  out["calls"] = r.calls;
  out["locations"] = r.locations;
  out["groups"] = r.groups;
  out["start_step_ns"] = info.step_ns;
  out["segments"] = info.segments;
  out["contexts"] = info.contexts;
  out["representatives"] = info.representatives;
  out["matches"] = info.matches;
  out["possible_matches"] = info.possible_matches;
  out["degree_of_matching"] = info.degree_of_matching();
  out["bytes_before"] = view.bytes_before;
  out["bytes_after"] = view.bytes_after;
  out["times_bytes_before"] = view.times_before;
  out["times_bytes_after"] = view.times_after;
  out["approximation_distance_ns"] = view.distance_ns;
  out["largest_distance_ns"] = view.largest_ns;
  out["error_ns"] = info.error_ns;
  out["relative_error"] = info.relative_error;
  out["missing_calls"] = r.missing_calls;
  out["divided_segments"] = r.divided;
  out["spilled_representatives"] = r.spilled;
  out["marks"] = {{"ends_without_begin", r.marks.ends_without_begin},
                  {"crossed", r.marks.crossed},
                  {"left_open", r.marks.left_open},
                  {"too_deep", r.marks.too_deep}};
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace refrain::report
