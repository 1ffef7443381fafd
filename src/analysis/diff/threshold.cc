#include "analysis/diff/threshold.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "analysis/diff/signatures.h"
#include "mpi/call_table.h"

namespace refrain::analysis::diff {
namespace {

struct MetricInfo {
  std::string_view name, unit;
  bool has_where;  // can be asked of some call paths only
};
constexpr std::array<MetricInfo, kMetrics> kInfo = {{{"calls", "", true},
                                                     {"polls", "", true},
                                                     {"failed", "", true},
                                                     {"bytes", "bytes", true},
                                                     {"messages", "", true},
                                                     {"one_sided", "", true},
                                                     {"time", "ns", true},
                                                     {"waits", "ns", true},
                                                     {"signatures", "", true},
                                                     {"new_signatures", "", true},
                                                     {"vanished_signatures", "", true},
                                                     {"paths", "", true},
                                                     {"new_paths", "", true},
                                                     {"vanished_paths", "", true},
                                                     {"changed_paths", "", true},
                                                     {"partners", "", false},
                                                     {"new_partners", "", false},
                                                     {"vanished_partners", "", false},
                                                     {"changed_partners", "", false},
                                                     {"changed_loops", "", false},
                                                     {"ranks", "", false}}};

const MetricInfo& info_of(Metric metric) { return kInfo[static_cast<size_t>(metric)]; }

std::string known_metrics() {
  std::string out;
  for (const MetricInfo& info : kInfo) out += (out.empty() ? "" : ", ") + std::string(info.name);
  return out;
}

base::Error not_understood(std::string_view text, const std::string& why) {
  return base::usage(
      "threshold '" + std::string(text) + "': " + why +
      "; it is METRIC[@FUNCTION or part of a call path]>NUMBER, with > < or <>, and a "
      "number like +5%, -3, 64K (bytes) or 20ms (times); metrics: " +
      known_metrics());
}

// The factor of a unit; 0: there is no such unit for the metric.
double factor_of(Metric metric, std::string_view unit) {
  if (unit.empty()) return 1;
  if (info_of(metric).unit == "ns") {
    if (unit == "ns") return 1;
    if (unit == "us") return 1e3;
    if (unit == "ms") return 1e6;
    return unit == "s" ? 1e9 : 0;
  }
  if (info_of(metric).unit != "bytes") return 0;
  if (unit.ends_with("iB") || (unit.size() == 2 && unit.ends_with('B'))) unit = unit.substr(0, 1);
  if (unit == "B") return 1;
  if (unit == "K" || unit == "k") return 0x1p10;
  if (unit == "M") return 0x1p20;
  if (unit == "G") return 0x1p30;
  return unit == "T" ? 0x1p40 : 0;
}

// The number with sign and unit behind the operator.
base::Status take_number(std::string_view text, std::string_view number, Threshold& out) {
  const bool has_sign = !number.empty() && (number[0] == '+' || number[0] == '-');
  const bool is_negative = has_sign && number[0] == '-';
  if (has_sign) number.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value,
                                            std::chars_format::fixed);
  if (error != std::errc() || !(value >= 0) || number.empty() || number[0] < '0' ||
      number[0] > '9' || !std::isfinite(value))
    return not_understood(text, "there is no number behind the operator");
  std::string_view unit(end, static_cast<size_t>(number.data() + number.size() - end));
  while (!unit.empty() && unit[0] == ' ') unit.remove_prefix(1);
  out.is_relative = unit == "%";
  const double factor = out.is_relative ? 0.01 : factor_of(out.metric, unit);
  if (factor == 0)
    return not_understood(
        text, std::string("'").append(unit).append("' is no unit of ").append(name_of(out.metric)));
  if (has_sign && out.op == Threshold::Op::kBeyond && is_negative)
    return not_understood(text, "<> takes a number without minus");
  out.limit = value * factor;
  if (is_negative || (!has_sign && out.op == Threshold::Op::kBelow)) out.limit = -out.limit;
  return base::Done{};
}

base::Status take_metric(std::string_view text, std::string_view left, Threshold& out) {
  const size_t at = left.find('@');
  const std::string_view name = left.substr(0, at);
  const auto known = std::find_if(kInfo.begin(), kInfo.end(),
                                  [&](const MetricInfo& info) { return info.name == name; });
  if (known == kInfo.end()) return not_understood(text, "no metric '" + std::string(name) + "'");
  out.metric = static_cast<Metric>(known - kInfo.begin());
  if (at == std::string_view::npos) return base::Done{};
  if (!known->has_where)
    return not_understood(text, std::string(name) + " is of the whole run and takes no @");
  for (std::string_view rest = left.substr(at + 1);;) {
    const size_t next = rest.find('@');
    const std::string where(rest.substr(0, next));
    if (where.empty()) return not_understood(text, "there is nothing behind @");
    if (where.starts_with("MPI_") && mpi::find_call(where) == nullptr)
      return not_understood(text, "there is no function " + where);
    out.where.push_back(where);
    if (next == std::string_view::npos) return base::Done{};
    rest.remove_prefix(next + 1);
  }
}

bool is_here(const CallChange& call, const Threshold& threshold, const IsAt& is_at) {
  return std::all_of(threshold.where.begin(), threshold.where.end(), [&](const std::string& where) {
    const mpi::CallInfo* info = mpi::find_call(where);
    return info != nullptr ? info->id == call.call : is_at(call, where);
  });
}

double count(const CallChange& call, Change wanted) {
  return static_cast<double>(
      std::count_if(call.signatures.begin(), call.signatures.end(), [&](const SignatureChange& s) {
        // Other parameters than before: one that vanished and one that appeared.
        return s.change == wanted || (s.change == Change::kChanged && s.before != s.after);
      }));
}

// What one call path adds to a metric.
void add_call(const CallChange& call, Metric metric, Measure& out) {
  const auto add = [&out](double before, double after) {
    out.before += before;
    out.after += after;
  };
  const auto count_if = [&add](bool is) { add(0, is ? 1 : 0); };
  const Amounts &a = call.before, &b = call.after;
  switch (metric) {
    case Metric::kCalls: return add(a.calls, b.calls);
    case Metric::kPolls: return add(a.polls, b.polls);
    case Metric::kFailed: return add(a.failed, b.failed);
    case Metric::kBytes: return add(a.bytes, b.bytes);
    case Metric::kMessages: return add(a.messages, b.messages);
    case Metric::kOneSided: return add(a.one_sided, b.one_sided);
    case Metric::kTime:
      out.noise = std::hypot(out.noise, call.time_noise_ns);
      return add(a.time_ns, b.time_ns);
    case Metric::kWaits:
      out.noise = std::hypot(out.noise, call.time_noise_ns);
      return add(a.waits_ns, b.waits_ns);
    case Metric::kSignatures:
      return add(static_cast<double>(call.signatures_before),
                 static_cast<double>(call.signatures_after));
    case Metric::kNewSignatures: return add(0, count(call, Change::kAppeared));
    case Metric::kVanishedSignatures: return add(0, count(call, Change::kVanished));
    case Metric::kPaths: return add(call.is_before ? 1 : 0, call.is_after ? 1 : 0);
    case Metric::kNewPaths: return count_if(call.change == Change::kAppeared);
    case Metric::kVanishedPaths: return count_if(call.change == Change::kVanished);
    case Metric::kChangedPaths: return count_if(call.change == Change::kChanged);
    default: return;
  }
}

// What is counted of the whole run.
Measure of_run(const Diff& diff, Metric metric) {
  const auto partners = [&diff](Change wanted) {
    return static_cast<double>(
        std::count_if(diff.partners.begin(), diff.partners.end(),
                      [&](const PartnerChange& p) { return p.change == wanted; }));
  };
  const auto sides = [&diff](uint64_t Side::*number) {
    return Measure{static_cast<double>(diff.sides[0].*number),
                   static_cast<double>(diff.sides[1].*number), 0};
  };
  switch (metric) {
    case Metric::kPartners: return sides(&Side::partners);
    case Metric::kRanks: return sides(&Side::ranks);
    case Metric::kNewPartners: return {0, partners(Change::kAppeared), 0};
    case Metric::kVanishedPartners: return {0, partners(Change::kVanished), 0};
    case Metric::kChangedPartners: return {0, partners(Change::kChanged), 0};
    default: return {0, static_cast<double>(diff.loops.size()), 0};
  }
}

bool is_past(const Threshold& threshold, double change, double limit) {
  switch (threshold.op) {
    case Threshold::Op::kAbove: return change > limit;
    case Threshold::Op::kBelow: return change < limit;
    case Threshold::Op::kBeyond: return std::abs(change) > limit;
  }
  return false;
}

// Whether it is past the limit even if all of the noise were against it.
bool is_past_noise(const Threshold& threshold, const Measure& value, double limit) {
  const double change = value.change();
  switch (threshold.op) {
    case Threshold::Op::kAbove: return change - value.noise > limit;
    case Threshold::Op::kBelow: return change + value.noise < limit;
    case Threshold::Op::kBeyond: return std::abs(change) - value.noise > limit;
  }
  return false;
}

}  // namespace

std::string_view name_of(Metric metric) { return info_of(metric).name; }
std::string_view unit_of(Metric metric) { return info_of(metric).unit; }

base::Result<Threshold> parse_threshold(std::string_view text) {
  Threshold out;
  out.text = text;
  // The last operator: a call path may hold others ("solve<double>").
  const size_t at = text.find_last_of("<>");
  if (at == std::string_view::npos) return not_understood(text, "there is no > and no <");
  const bool is_both = text[at] == '>' && at > 0 && text[at - 1] == '<';
  out.op = is_both           ? Threshold::Op::kBeyond
           : text[at] == '>' ? Threshold::Op::kAbove
                             : Threshold::Op::kBelow;
  std::string_view left = text.substr(0, is_both ? at - 1 : at), right = text.substr(at + 1);
  while (!right.empty() && right[0] == ' ') right.remove_prefix(1);
  while (!left.empty() && left.back() == ' ') left.remove_suffix(1);
  if (const base::Status good = take_metric(text, left, out); !good.ok()) return good.error();
  if (const base::Status good = take_number(text, right, out); !good.ok()) return good.error();
  return out;
}

std::vector<Threshold> default_thresholds() {
  std::vector<Threshold> out;
  for (const char* text :
       {"ranks<>0", "calls<>0", "bytes<>0", "messages<>0", "failed>0", "new_paths>0",
        "vanished_paths>0", "changed_paths>0", "new_signatures>0", "vanished_signatures>0",
        "new_partners>0", "vanished_partners>0", "changed_partners>0", "changed_loops>0"})
    if (auto threshold = parse_threshold(text); threshold.ok()) out.push_back(*threshold);
  return out;
}

base::Result<Verdict> judge(const Diff& diff, const Threshold& threshold, const IsAt& is_at) {
  Verdict out;
  out.threshold = threshold;
  const Metric metric = threshold.metric;
  for (const Side& side : diff.sides)
    if (metric == Metric::kWaits && !side.has_waits)
      return base::unsupported("threshold '" + threshold.text +
                               "': there are no waits to compare: " + side.no_waits +
                               "; record both with --timing");
  if (!info_of(metric).has_where) {
    out.value = of_run(diff, metric);
  } else {
    bool is_anywhere = threshold.where.empty();
    for (const CallChange& call : diff.calls) {
      if (!is_here(call, threshold, is_at)) continue;
      is_anywhere = true;
      add_call(call, metric, out.value);
    }
    // A function that neither run calls is good: nothing has changed.
    const bool is_function = std::all_of(threshold.where.begin(), threshold.where.end(),
                                         [](auto& w) { return mpi::find_call(w) != nullptr; });
    if (!is_anywhere && !is_function)
      return base::usage("threshold '" + threshold.text +
                         "': no call of the two traces is there; `refrain profile --by callpath` "
                         "shows the call paths");
    if (threshold.where.empty() && metric == Metric::kTime) out.value.noise = diff.time_noise_ns;
    if (threshold.where.empty() && metric == Metric::kWaits)
      out.value = {diff.before.waits_ns, diff.after.waits_ns, diff.waits_noise_ns};
  }
  const double limit = threshold.is_relative ? threshold.limit * out.value.before : threshold.limit;
  const bool is_past_limit = !is_close(out.value.before, out.value.after) || threshold.limit != 0
                                 ? is_past(threshold, out.value.change(), limit)
                                 : false;
  out.is_crossed = is_past_limit && is_past_noise(threshold, out.value, limit);
  out.is_in_noise = is_past_limit && !out.is_crossed;
  return out;
}

}  // namespace refrain::analysis::diff
