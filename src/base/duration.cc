#include "base/duration.h"

namespace refrain::base {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr uint64_t kSecond = 1'000'000'000;
// More digits than a 64-bit number has say nothing more.
constexpr int kMaxDigits = 20;
constexpr int kMaxExponent = 20;

struct Unit {
  std::string_view name;
  uint64_t ns;
};
// "s" is the end of others, so it comes behind them.
constexpr Unit kUnits[] = {
    {"ns", 1},     {"us", 1000}, {"ms", 1'000'000}, {"min", 60 * kSecond}, {"h", 3600 * kSecond},
    {"s", kSecond}};

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// "12.5e3" as 125 and the exponent 2.
struct Decimal {
  Wide digits = 0;
  int exponent = 0;
};

bool take_exponent(std::string_view text, int& exponent) {
  const bool minus = !text.empty() && text[0] == '-';
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  if (text.empty() || text.size() > 2) return false;
  int value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
    value = 10 * value + (c - '0');
  }
  if (value > kMaxExponent) return false;
  exponent += minus ? -value : value;
  return true;
}

std::optional<Decimal> parse_decimal(std::string_view text) {
  Decimal out;
  if (const size_t e = text.find_first_of("eE"); e != std::string_view::npos) {
    if (!take_exponent(text.substr(e + 1), out.exponent)) return std::nullopt;
    text = text.substr(0, e);
  }
  int digits = 0;
  bool has_point = false, has_digit = false;
  for (const char c : text) {
    if (c == '.' && !has_point) {
      has_point = true;
      continue;
    }
    if (c < '0' || c > '9') return std::nullopt;
    has_digit = true;
    if (out.digits != 0 || c != '0') ++digits;
    if (digits > kMaxDigits) return std::nullopt;
    out.digits = 10 * out.digits + static_cast<Wide>(c - '0');
    if (has_point) --out.exponent;
  }
  // "1." may be one letter short of "1.5".
  if (!has_digit || text.back() == '.') return std::nullopt;
  return out;
}

}  // namespace

std::optional<uint64_t> parse_duration(std::string_view text, uint64_t unit_ns) {
  for (const Unit& unit : kUnits)
    if (ends_with(text, unit.name)) {
      unit_ns = unit.ns;
      text.remove_suffix(unit.name.size());
      if (!text.empty() && text.back() == ' ') text.remove_suffix(1);
      break;
    }
  const auto number = parse_decimal(text);
  if (!number) return std::nullopt;
  // 10^20 x 3.6 x 10^12 has less than 128 bits.
  Wide ns = number->digits * unit_ns;
  for (int e = number->exponent; e > 0 && ns != 0; --e) {
    ns *= 10;
    if (ns > UINT64_MAX) return std::nullopt;
  }
  bool round_up = false;
  for (int e = number->exponent; e < 0 && ns != 0; ++e) {
    round_up = ns % 10 >= 5;
    ns /= 10;
  }
  ns += round_up ? 1 : 0;
  if (ns > UINT64_MAX) return std::nullopt;
  return static_cast<uint64_t>(ns);
}

}  // namespace refrain::base
