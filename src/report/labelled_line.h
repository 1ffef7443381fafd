// One line of a text report: a label, and what belongs to it.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "text/escape.h"

namespace refrain::report {

// Appends "  method     signatures\n"; the value begins behind `width` columns of label and a
// space.
inline void add_line(std::string& out, std::string_view label, std::string_view value,
                     int width = 10) {
  out += fmt::format("  {:<{}} {}\n", label, width, text::printable(value));
}

}  // namespace refrain::report
