#include "text/display.h"

#include <algorithm>

#include "reader/function_names.h"

namespace refrain::text {
namespace {

Display& current() {
  static Display display;
  return display;
}

std::string styled(std::string_view text, std::string_view code) {
  if (!display().has_colour || text.empty()) return std::string(text);
  std::string out = "\033[";
  out.append(code).append("m").append(text).append("\033[0m");
  return out;
}

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// Where the character number `n` begins.
size_t offset_of(std::string_view text, size_t n) {
  for (size_t i = 0; i < text.size(); ++i)
    if (!continues_character(text[i]) && n-- == 0) return i;
  return text.size();
}

}  // namespace

const Display& display() { return current(); }
void set_display(const Display& wanted) { current() = wanted; }

std::string shown_name(std::string_view name) {
  return display().fold_names ? reader::folded_name(name) : std::string(name);
}

std::string heading(std::string_view text) { return styled(text, "1"); }
std::string titles(std::string_view text) { return styled(text, "2"); }
std::string bar(std::string_view text) { return styled(text, "36"); }
std::string good(std::string_view text) { return styled(text, "32"); }
std::string bad(std::string_view text) { return styled(text, "31"); }

size_t text_width(std::string_view text) {
  return text.size() -
         static_cast<size_t>(std::count_if(text.begin(), text.end(), &continues_character));
}

std::string shortened(std::string_view text, size_t width) {
  const size_t all = text_width(text);
  if (all <= width) return std::string(text);
  if (width == 0) return "";
  const size_t indent = std::min(std::min(text.find_first_not_of(' '), all), width / 2);
  const size_t room = width - indent - 1;  // without the dots
  const size_t end = room - room / 3;
  std::string out(text.substr(0, offset_of(text, indent + room / 3)));
  out += "…";
  return out + std::string(text.substr(offset_of(text, all - end)));
}

std::string paragraph(std::string_view text, size_t indent) {
  std::string out(text);
  const size_t columns = display().columns;
  if (columns == 0) return out;
  constexpr std::string_view kBreaks = " \n";
  size_t line = 0;  // where it begins
  for (size_t at = out.find_first_of(kBreaks), last = 0;;) {
    const size_t end = std::min(at, out.size());
    if (last > line + indent &&
        text_width(std::string_view(out).substr(line, end - line)) > columns) {
      out[last] = '\n';
      line = last + 1;
      out.insert(line, indent, ' ');
      if (at != std::string::npos) at += indent;
    }
    if (at == std::string::npos) return out;
    last = at;
    if (out[at] == '\n') line = last = at + 1;
    at = out.find_first_of(kBreaks, at + 1);
  }
}

}  // namespace refrain::text
