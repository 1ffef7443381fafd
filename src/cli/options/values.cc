#include "cli/options/values.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "base/byte_size.h"
#include "base/duration.h"
#include "cli/options/choice.h"

namespace refrain::cli {
namespace {

using Check = decltype(ValueCheck::check);

std::string in_quotes(const std::string& text) { return "'" + text + "'"; }

std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

// "from 1 to 32", "from 1 up"; the same for all kinds of numbers.
std::string between(const std::string& least, const std::string& most) {
  return most.empty() ? "from " + least + " up" : "from " + least + " to " + most;
}

std::string between(uint64_t least, uint64_t most) {
  return between(std::to_string(least), most == UINT64_MAX ? "" : std::to_string(most));
}

// In the largest unit that divides it: "1us", "250ns".
std::string time_text(uint64_t ns) {
  constexpr std::pair<uint64_t, const char*> kUnits[] = {
      {1'000'000'000, "s"}, {1'000'000, "ms"}, {1000, "us"}};
  for (const auto& [size, name] : kUnits)
    if (ns >= size && ns % size == 0) return std::to_string(ns / size) + name;
  return std::to_string(ns) + (ns == 0 ? "" : "ns");
}

std::string bytes_text(uint64_t bytes) {
  constexpr std::string_view kUnits = "KMGT";
  int unit = -1;
  while (unit + 1 < static_cast<int>(kUnits.size()) && bytes >= 1024 && bytes % 1024 == 0) {
    bytes /= 1024;
    ++unit;
  }
  return std::to_string(bytes) +
         (unit < 0 ? "" : std::string(1, kUnits[static_cast<size_t>(unit)]));
}

bool parse_whole(const std::string& text, uint64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

// Without "inf", "nan" and hexadecimal digits, which strtod takes.
bool parse_real(const std::string& text, double& out) {
  if (text.empty() || text.find_first_not_of("0123456789.eE+-") != std::string::npos) return false;
  char* end = nullptr;
  out = std::strtod(text.c_str(), &end);
  return *end == '\0' && std::isfinite(out);
}

std::string range_text(uint64_t least, uint64_t most) {
  if (most >= UINT32_MAX) return "";
  return "in [" + std::to_string(least) + " - " + std::to_string(most) + "]";
}

}  // namespace

ValueCheck one_of(std::vector<std::string> words) {
  std::string choices;
  for (const std::string& word : words) choices += (choices.empty() ? "" : ",") + word;
  const auto check = [words](std::string& text) -> std::string {
    if (std::find(words.begin(), words.end(), text) != words.end()) return {};
    return none_of(text, words);
  };
  return {check, "{" + choices + "}"};
}

ValueCheck whole_number(uint64_t least, uint64_t most) {
  const auto check = [least, most](std::string& text) -> std::string {
    uint64_t value = 0;
    if (parse_whole(text, value) && value >= least && value <= most) return {};
    return in_quotes(text) + " is not a whole number " + between(least, most);
  };
  return {check, range_text(least, most)};
}

ValueCheck rank_number() {
  const auto check = [](std::string& text) -> std::string {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size()) return {};
    return in_quotes(text) + " is not the number of a rank, such as 0";
  };
  return {check, ""};
}

ValueCheck real_number(double least, double most) {
  const std::string low = number_text(least), high = number_text(most);
  const auto check = [=](std::string& text) -> std::string {
    double value = 0;
    if (parse_real(text, value) && value >= least && value <= most) return {};
    return in_quotes(text) + " is not a number " + between(low, high);
  };
  return {check, "in [" + low + " - " + high + "]"};
}

ValueCheck percent_with_sign() {
  const auto check = [](std::string& text) -> std::string {
    double value = 0;
    std::string number = text;
    if (!number.empty() && number.back() == '%') number.pop_back();
    if (!parse_real(number, value) || value <= 0 || value > 100)
      return in_quotes(text) + " is not a percentage, such as 0.5%";
    text = number;
    return {};
  };
  return {check, ""};
}

ValueCheck positive_number() {
  const auto check = [](std::string& text) -> std::string {
    double value = 0;
    if (parse_real(text, value) && value > 0) return {};
    return in_quotes(text) + " is not a number above 0";
  };
  return {check, ""};
}

ValueCheck time_with_unit(uint64_t least_ns, uint64_t most_ns) {
  const auto check = [=](std::string& text) -> std::string {
    const auto ns = base::parse_duration(text);
    if (!ns || *ns < least_ns || *ns > most_ns) {
      const std::string high = most_ns == UINT64_MAX ? "" : time_text(most_ns);
      return in_quotes(text) + " is not a time " + between(time_text(least_ns), high) +
             ": nanoseconds, or with a unit (ns, us, ms, s, min, h), as in 20ms";
    }
    text = std::to_string(*ns);
    return {};
  };
  return {check, ""};
}

ValueCheck seconds_with_unit(double least, double most) {
  const auto check = [=](std::string& text) -> std::string {
    constexpr double kNs = 1e9;
    const auto ns = base::parse_duration(text, static_cast<uint64_t>(kNs));
    const double seconds = ns ? static_cast<double>(*ns) / kNs : -1;
    if (!ns || (seconds != 0 && (seconds < least || seconds > most)))
      return in_quotes(text) + " is not a time " + between(number_text(least), number_text(most)) +
             " seconds, or 0: seconds, or with a unit (ns, us, ms, s, min, h), as in 500ms";
    text = number_text(seconds);
    return {};
  };
  return {check, ""};
}

ValueCheck mebibytes_with_unit(uint64_t least, uint64_t most) {
  const auto check = [=](std::string& text) -> std::string {
    constexpr int kMebi = 20;
    uint64_t mib = 0;
    if (!parse_whole(text, mib)) {
      const auto bytes = base::parse_bytes(text);
      mib = bytes ? (*bytes >> kMebi) : 0;
      if (!bytes || mib << kMebi != *bytes) mib = UINT64_MAX;
    }
    if (mib < least || mib > most)
      return in_quotes(text) + " is not a whole number of MiB " + between(least, most) +
             ", or as in 512M, 2G";
    text = std::to_string(mib);
    return {};
  };
  return {check, ""};
}

ValueCheck bytes_with_unit(uint64_t least, uint64_t most) {
  const auto check = [=](std::string& text) -> std::string {
    const auto bytes = base::parse_bytes(text);
    if (!bytes || *bytes < least || *bytes > most)
      return in_quotes(text) + " is not a size " + between(bytes_text(least), bytes_text(most)) +
             ": bytes, or with a unit (K, M, G, T), as in 64K";
    text = std::to_string(*bytes);
    return {};
  };
  return {check, ""};
}

}  // namespace refrain::cli
