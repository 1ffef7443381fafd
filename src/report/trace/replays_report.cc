#include "report/trace/replays_report.h"

#include <nlohmann/json.hpp>

#include "text/display.h"
#include "text/escape.h"
#include "text/numbers.h"
#include "text/values.h"

namespace refrain::report {
namespace {

constexpr size_t kMostBytes = 400;  // of a value in a line

std::string value_text(const Value& value, const Trace& trace) {
  std::string out;
  if (!text::append_value(out, value, trace, text::Style::kText, kMostBytes)) out += " ...";
  return out;
}

}  // namespace

std::string difference_line(const Trace& original, const Trace& again,
                            const analysis::ReplayDifference& d) {
  std::string line = "rank " + std::to_string(d.rank);
  if (d.thread != 0) line += " thread " + std::to_string(d.thread);
  if (d.call.empty())
    return line + ": the replay has one more call, " + std::string(d.again_call) + " (call " +
           std::to_string(d.again_seq) + ")";
  line += ", call " + std::to_string(d.seq) + ", " + std::string(d.call);
  if (d.again_call.empty()) return line + ": the replay ends before it";
  if (d.parameter.empty()) return line + ": the replay has " + std::string(d.again_call);
  return line + ", " + std::string(d.parameter) + ": " + value_text(d.recorded, original) +
         ", in the replay " + value_text(d.replayed, again);
}

std::string replays_text(const Trace& original, const Trace& again,
                         const analysis::ReplayComparison& comparison) {
  const std::string replay = text::printable(again.name());
  const std::string recorded = text::printable(original.name());
  std::string out;
  if (comparison.first)
    out += replay + " is no replay of " + recorded + ": " +
           difference_line(original, again, *comparison.first) + "\n";
  else
    out += replay + " replays " + recorded + ": " + text::counted_text(comparison.calls, "call") +
           " with equal parameters\n";
  for (size_t i = 0; i < analysis::kAllowedCount; ++i)
    if (comparison.allowed[i] > 0)
      out += "  " + std::to_string(comparison.allowed[i]) + " " +
             std::string(to_string(static_cast<analysis::Allowed>(i))) + " that may differ\n";
  return text::paragraph(out, 2);
}

std::string replays_json(const Trace& original, const Trace& again,
                         const analysis::ReplayComparison& comparison) {
  nlohmann::ordered_json out;
  out["original"] = original.name();
  out["replay"] = again.name();
  out["equal"] = !comparison.first.has_value();
  out["calls"] = comparison.calls;
  auto& allowed = out["may_differ"] = nlohmann::ordered_json::object();
  for (size_t i = 0; i < analysis::kAllowedCount; ++i)
    allowed[std::string(to_string(static_cast<analysis::Allowed>(i)))] = comparison.allowed[i];
  if (comparison.first) {
    const analysis::ReplayDifference& d = *comparison.first;
    out["first"] = {{"rank", d.rank},
                    {"thread", d.thread},
                    {"call", d.seq},
                    {"function", d.call},
                    {"replayed_function", d.again_call},
                    {"parameter", d.parameter},
                    {"recorded", value_text(d.recorded, original)},
                    {"replayed", value_text(d.replayed, again)}};
  }
  return out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace refrain::report
