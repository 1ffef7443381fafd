#include "report/latex/tex_text.h"

#include <fmt/format.h>

#include <vector>

#include "text/escape.h"
#include "text/numbers.h"

namespace refrain::report::latex {
namespace {

constexpr size_t kUnbroken = 20;  // letters and digits in a row

bool is_plain(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

// `text` has to be UTF-8.
std::vector<uint32_t> characters(std::string_view text) {
  std::vector<uint32_t> out;
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    if ((byte & 0xc0) == 0x80 && !out.empty())
      out.back() = out.back() << 6 | (byte & 0x3f);
    else
      out.push_back(byte < 0x80 ? byte : byte & (byte < 0xe0 ? 0x1f : byte < 0xf0 ? 0x0f : 0x07));
  }
  return out;
}

// The middle is left out: a path begins with what is known and ends with what matters.
std::vector<uint32_t> shortened(std::vector<uint32_t> all, size_t most) {
  if (all.size() <= most) return all;
  constexpr std::string_view kGap = " ... ";
  const auto head = static_cast<std::ptrdiff_t>(most / 2);
  const auto tail = static_cast<std::ptrdiff_t>(most - most / 2);
  std::vector<uint32_t> out(all.begin(), all.begin() + head);
  out.insert(out.end(), kGap.begin(), kGap.end());
  out.insert(out.end(), all.end() - tail, all.end());
  return out;
}

std::string escaped(std::string_view text, std::string_view space) {
  std::string out;
  for (const char c : text) {
    if (c == ' ')
      out += space;
    else if (c == '%' || c == '_' || c == '#' || c == '&')
      out += '\\', out += c;
    else
      out +=
          is_plain(c) || std::string_view("().,:/+-'").find(c) != std::string_view::npos ? c : '?';
  }
  return out;
}

}  // namespace

std::string code(std::string_view text, size_t most) {
  std::string out = "\\rfcode{";
  size_t unbroken = 0;
  const auto put = [&](char c) {
    if (is_plain(c)) {
      if (++unbroken > kUnbroken) {
        out += "\\rfbreak{}";
        unbroken = 1;
      }
      out += c;
      return;
    }
    unbroken = 0;
    if (c == ' ')
      out += "\\rfspace{}";
    else
      out += fmt::format("\\rfchar{{{}}}", static_cast<int>(c));
  };
  for (const uint32_t c : shortened(characters(text::printable(text)), most)) {
    if (c < 0x80) {
      put(static_cast<char>(c));
      continue;
    }
    for (const char part : fmt::format("<U+{:04X}>", c)) put(part);
  }
  return out + "}";
}

std::string bare(std::string_view text, size_t most) {
  constexpr std::string_view kAllowed = " ./-+:,()";
  std::string out;
  for (const uint32_t c : shortened(characters(text::printable(text)), most)) {
    const bool is_allowed = c < 0x80 && (is_plain(static_cast<char>(c)) ||
                                         kAllowed.find(static_cast<char>(c)) != kAllowed.npos);
    out += is_allowed ? static_cast<char>(c) : '?';
  }
  return out;
}

std::string number(std::string_view text) { return escaped(text, "\\,"); }
std::string words(std::string_view text) {
  std::string out;
  for (;;) {
    const size_t end = text.find(' ');
    const std::string_view word = text.substr(0, end);
    // The underscore of the text font is a line that nobody can copy.
    out += word.find('_') == std::string_view::npos ? escaped(word, "") : code(word);
    if (end == std::string_view::npos) return out;
    out += ' ';
    text.remove_prefix(end + 1);
  }
}

std::string duration(const Json& value) {
  return value.is_number() ? number(text::duration_text(whole(value))) : "-";
}
std::string count(const Json& value) {
  return value.is_number() ? number(text::count_text(whole(value))) : "-";
}
std::string bytes(const Json& value) {
  return value.is_number() ? number(text::bytes_text(whole(value))) : "-";
}
std::string share(const Json& value) {
  return value.is_number() ? number(text::percent_text(real(value), 1)) : "-";
}

std::string counted(const Json& value, const std::string& noun) {
  return count(value) + " " + noun + (whole(value) == 1 ? "" : "s");
}

uint64_t whole(const Json& value) {
  if (value.is_number_unsigned()) return value.get<uint64_t>();
  return value.is_number() ? text::rounded(value.get<double>()) : 0;
}
double real(const Json& value) { return value.is_number() ? value.get<double>() : 0; }
std::string text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_null() ? std::string()
                         : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace refrain::report::latex
