#include "similarity/method.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <optional>

namespace refrain::similarity {
namespace {

struct Row {
  const char* name;
  double threshold;
  double inter_threshold;
};
constexpr Row kRows[kMethodCount] = {
    {"relDiff", 0.8, 0.8},   {"absDiff", 1e6, 1e7},  // ns: 10^3 and 10^4 microseconds
    {"Manhattan", 0.4, 0.4}, {"Euclidean", 0.2, 0.4}, {"Chebyshev", 0.2, 0.4}, {"iter_k", 10, 0},
    {"iter_avg", 0, 0},      {"avgWave", 0.2, 0.4},   {"haarWave", 0.2, 0.4},  {"auto", 0.1, 0.05}};

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_name(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (lower(a[i]) != lower(b[i])) return false;
  return true;
}

std::optional<Method> find_method(std::string_view name) {
  for (int m = 0; m < kMethodCount; ++m)
    if (same_name(name, kRows[m].name)) return static_cast<Method>(m);
  return std::nullopt;
}

std::string known_methods() {
  std::string names;
  for (const Row& row : kRows) {
    if (!names.empty()) names += ", ";
    names += row.name;
  }
  return names;
}

// Nanoseconds in one unit of the threshold.
double unit_of(Method method) { return method == Method::kAbsDiff ? 1000 : 1; }

std::optional<double> parse_number(Method method, std::string_view text) {
  double unit = unit_of(method);
  if (method == Method::kAbsDiff) {
    constexpr std::pair<std::string_view, double> kUnits[] = {
        {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    for (const auto& [name, ns] : kUnits) {
      if (!text.ends_with(name)) continue;
      text.remove_suffix(name.size());
      unit = ns;
      break;
    }
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value * unit;
}

// What a threshold must be, for the error line.
const char* expectation(Method method) {
  switch (method) {
    case Method::kRelDiff:
    case Method::kChebyshev: return "a number from 0 to 1 (at 1 everything matches)";
    case Method::kAbsDiff: return "a time of at least 0, in microseconds or with ns, us, ms, s";
    case Method::kManhattan:
    case Method::kEuclidean:
    case Method::kAvgWave:
    case Method::kHaarWave: return "a number from 0 to 1000, usually below 1";
    case Method::kIterK: return "a whole number from 1 to 1000000";
    case Method::kIterAvg: return "nothing: it has no threshold";
    case Method::kAuto: return "a relative error above 0 and below 1";
  }
  return "";
}

bool makes_sense(Method method, double t) {
  if (!std::isfinite(t)) return false;
  switch (method) {
    case Method::kRelDiff:
    case Method::kChebyshev: return t >= 0 && t <= 1;
    case Method::kAbsDiff: return t >= 0;
    case Method::kManhattan:
    case Method::kEuclidean:
    case Method::kAvgWave:
    case Method::kHaarWave: return t >= 0 && t <= 1000;
    case Method::kIterK: return t >= 1 && t <= 1e6 && t == std::floor(t);
    case Method::kIterAvg: return t == 0;
    case Method::kAuto: return t > 0 && t < 1;
  }
  return false;
}

base::Error bad_threshold(Method method, std::string_view text) {
  return base::usage("threshold '" + std::string(text) + "' makes no sense for " +
                     method_name(method) + ": it takes " + expectation(method));
}

std::string number_text(Method method, double threshold) {
  char text[32];
  std::snprintf(text, sizeof text, "%.15g", in_own_unit(method, threshold));
  return text;
}

}  // namespace

double in_own_unit(Method method, double threshold) { return threshold / unit_of(method); }

const char* method_name(Method method) { return kRows[static_cast<int>(method)].name; }

MethodSpec default_spec(Method method) {
  const Row& row = kRows[static_cast<int>(method)];
  return {method, row.threshold, row.inter_threshold};
}

base::Status check_spec(const MethodSpec& spec) {
  if (!makes_sense(spec.method, spec.threshold))
    return bad_threshold(spec.method, number_text(spec.method, spec.threshold));
  if (spec.matches_between_processes() ? !makes_sense(spec.method, spec.inter_threshold)
                                       : spec.inter_threshold != 0)
    return bad_threshold(spec.method, number_text(spec.method, spec.inter_threshold));
  return base::Done{};
}

base::Result<MethodSpec> parse_method(std::string_view text) {
  const size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const std::optional<Method> method = find_method(name);
  if (!method)
    return base::usage("unknown method '" + std::string(name) + "' (known: " + known_methods() +
                       ")");
  MethodSpec spec = default_spec(*method);
  spec.keeps_trends = *method == Method::kAuto && colon == std::string_view::npos;
  if (colon == std::string_view::npos) return spec;
  if (*method == Method::kIterAvg) return bad_threshold(*method, text.substr(colon + 1));
  const std::string_view rest = text.substr(colon + 1);
  const size_t second = rest.find(':');
  const auto threshold = parse_number(*method, rest.substr(0, second));
  if (!threshold || !makes_sense(*method, *threshold))
    return bad_threshold(*method, rest.substr(0, second));
  spec.threshold = *threshold;
  if (second == std::string_view::npos) return spec;
  const std::string_view inter = rest.substr(second + 1);
  if (!spec.matches_between_processes())
    return base::usage("threshold '" + std::string(inter) + "': " + method_name(*method) +
                       " does not match between processes and takes one threshold");
  const auto inter_threshold = parse_number(*method, inter);
  if (!inter_threshold || !makes_sense(*method, *inter_threshold))
    return bad_threshold(*method, inter);
  spec.inter_threshold = *inter_threshold;
  return spec;
}

std::string to_text(const MethodSpec& spec) {
  std::string text = method_name(spec.method);
  if (spec.method == Method::kIterAvg) return text;
  text.append(":").append(number_text(spec.method, spec.threshold));
  if (spec.inter_threshold != default_spec(spec.method).inter_threshold)
    text.append(":").append(number_text(spec.method, spec.inter_threshold));
  return text;
}

}  // namespace refrain::similarity
