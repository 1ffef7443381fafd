#include "format/time/spec.h"

#include <algorithm>
#include <optional>

#include "mpi/call_name.h"
#include "mpi/call_table.h"
#include "similarity/method.h"

namespace refrain::format {

namespace {

// "0.02" -> millionths; nothing for what is no decimal fraction with at most six places. Plain
// digits, so that the same text means the same bound whatever the locale.
std::optional<uint32_t> parse_bound(std::string_view text) {
  const size_t point = std::min(text.find('.'), text.size());
  std::string_view whole = text.substr(0, point);
  std::string_view places = text.substr(std::min(point + 1, text.size()));
  while (!places.empty() && places.back() == '0') places.remove_suffix(1);
  if ((whole.empty() && places.empty()) || whole.size() > 1 || places.size() > 6) return {};
  uint32_t value = 0;
  const auto add = [&](char c) {
    if (c < '0' || c > '9') return false;
    value = value * 10 + static_cast<uint32_t>(c - '0');
    return true;
  };
  for (const char c : whole)
    if (!add(c)) return {};
  for (size_t i = 0; i < 6; ++i)
    if (!add(i < places.size() ? places[i] : '0')) return {};
  return value;
}

std::string bound_text(uint32_t bound) {
  const std::string digits = std::to_string(bound);
  std::string text = "0.";
  text.append(6 - std::min<size_t>(6, digits.size()), '0');
  text += digits;
  while (text.size() > 3 && text.back() == '0') text.pop_back();
  return text;
}

std::string quoted(std::string_view text) {
  std::string out(1, '\'');
  out.append(text);
  out.push_back('\'');
  return out;
}

base::Error bad_bound(std::string_view text) {
  return base::usage(quoted(text) + " is no bound of a relative error: 0.001 to 0.5");
}

base::Status add_override(TimeSpec& spec, std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos)
    return base::usage(quoted(text) + " should be FUNCTION=BOUND");
  const std::string_view name = text.substr(0, equals);
  const mpi::CallInfo* call = mpi::find_call(name);
  if (call == nullptr) return base::usage(quoted(name) + " is no function of MPI that is recorded");
  const auto bound = parse_bound(text.substr(equals + 1));
  if (!bound || *bound < TimeSpec::kMinBound || *bound > TimeSpec::kMaxBound)
    return bad_bound(text.substr(equals + 1));
  for (const TimeSpec::Override& o : spec.overrides)
    if (o.call == call->id) return base::usage("two bounds for " + std::string(name));
  spec.overrides.push_back({call->id, *bound});
  return base::Done{};
}

}  // namespace

uint32_t TimeSpec::bound_of(uint16_t call) const {
  const auto it = std::lower_bound(overrides.begin(), overrides.end(), call,
                                   [](const Override& o, uint16_t c) { return o.call < c; });
  return it != overrides.end() && it->call == call ? it->bound : bound;
}

TimeSpec TimeSpec::of_run(const std::map<std::string, std::string>& text) {
  const auto timing = text.find("timing");
  if (timing == text.end()) return {};
  const auto spec = parse(timing->second);
  return spec.ok() ? *spec : TimeSpec();
}

base::Result<TimeSpec> TimeSpec::parse(std::string_view text) {
  TimeSpec spec;
  if (text == "stats") return spec;
  if (text == "exact") {
    spec.mode = TimeMode::kExact;
    return spec;
  }
  constexpr std::string_view kBinsPrefix = "bins:", kSegmentsPrefix = "segments:";
  if (text.substr(0, kSegmentsPrefix.size()) == kSegmentsPrefix) {
    const auto method = similarity::parse_method(text.substr(kSegmentsPrefix.size()));
    if (!method.ok()) return method.error();
    spec.mode = TimeMode::kSegments;
    spec.method = to_text(*method);
    return spec;
  }
  if (text.substr(0, kBinsPrefix.size()) != kBinsPrefix)
    return base::usage(quoted(text) + " is not stats, bins:BOUND, segments:METHOD or exact");
  spec.mode = TimeMode::kBins;
  std::string_view rest = text.substr(kBinsPrefix.size());
  const std::string_view common = rest.substr(0, rest.find(','));
  const auto bound = parse_bound(common);
  if (!bound || *bound < kMinBound || *bound > kMaxBound) return bad_bound(common);
  spec.bound = *bound;
  while (rest.find(',') != std::string_view::npos) {
    rest.remove_prefix(rest.find(',') + 1);
    const base::Status added = add_override(spec, rest.substr(0, rest.find(',')));
    if (!added.ok()) return added.error();
  }
  std::sort(spec.overrides.begin(), spec.overrides.end(),
            [](const Override& a, const Override& b) { return a.call < b.call; });
  if (spec.overrides.size() > kMaxOverrides)
    return base::usage("bounds for more than " + std::to_string(kMaxOverrides) + " functions");
  return spec;
}

std::string TimeSpec::to_string() const {
  if (mode == TimeMode::kStats) return "stats";
  if (mode == TimeMode::kExact) return "exact";
  if (mode == TimeMode::kSegments) return "segments:" + method;
  std::string text = "bins:" + bound_text(bound);
  for (const Override& o : overrides) {
    text += ',';
    text += mpi::call_name(static_cast<mpi::CallId>(o.call));
    text += '=';
    text += bound_text(o.bound);
  }
  return text;
}

}  // namespace refrain::format
