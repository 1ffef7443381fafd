#include "text/escape.h"

#include <cstdint>

namespace refrain::text {

namespace {

constexpr char kHexDigits[] = "0123456789abcdef";

// Length of the well-formed UTF-8 sequence at the beginning of `text`, 0 when there is none
// (overlong forms, surrogates and values above U+10FFFF are not well-formed).
size_t sequence_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const auto continues = [&](size_t i) { return i < text.size() && (byte(i) & 0xc0) == 0x80; };
  const uint8_t first = byte(0);
  if (first < 0x80) return 1;
  if (first < 0xc2) return 0;
  if (first < 0xe0) return continues(1) ? 2 : 0;
  if (first < 0xf0) {
    if (!continues(1) || !continues(2)) return 0;
    if (first == 0xe0 && byte(1) < 0xa0) return 0;
    if (first == 0xed && byte(1) > 0x9f) return 0;
    return 3;
  }
  if (first > 0xf4 || !continues(1) || !continues(2) || !continues(3)) return 0;
  if (first == 0xf0 && byte(1) < 0x90) return 0;
  if (first == 0xf4 && byte(1) > 0x8f) return 0;
  return 4;
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += "\\u00";
      out += kHexDigits[byte >> 4];
      out += kHexDigits[byte & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t n = sequence_length(text);
    if (n == 0) return false;
    text.remove_prefix(n);
  }
  return true;
}

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t n = sequence_length(text);
    const auto byte = static_cast<uint8_t>(text[0]);
    const bool is_c1 = n == 2 && byte == 0xc2 && static_cast<uint8_t>(text[1]) < 0xa0;
    if (n == 0 || byte < 0x20 || byte == 0x7f || is_c1)
      out += '?';
    else
      out.append(text.substr(0, n));
    text.remove_prefix(n == 0 ? 1 : n);
  }
  return out;
}

void append_hex(std::string& out, std::string_view bytes) {
  for (const char c : bytes) {
    const auto byte = static_cast<uint8_t>(c);
    out += kHexDigits[byte >> 4];
    out += kHexDigits[byte & 15];
  }
}

std::string escaped(std::string_view text) {
  std::string clean;
  for (;;) {
    const size_t end = text.find('\n');
    clean += printable(text.substr(0, end));
    if (end == std::string_view::npos) break;
    clean += '\n';
    text.remove_prefix(end + 1);
  }
  std::string out;
  for (size_t i = 0; i < clean.size(); ++i) {
    switch (clean[i]) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default:
        if (clean.compare(i, 3, "\xef\xbf\xbe") == 0 || clean.compare(i, 3, "\xef\xbf\xbf") == 0) {
          out += '?';
          i += 2;
        } else {
          out += clean[i];
        }
    }
  }
  return out;
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

}  // namespace refrain::text
