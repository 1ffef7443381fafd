#include "report/window_text.h"

#include <fmt/format.h>

#include "text/numbers.h"

namespace refrain::report {

std::string window_text(const analysis::Window& window) {
  return fmt::format(
      "from {} to {}: times as far as they lie in it, calls and bytes of calls that begin in it",
      text::duration_text(window.from_ns),
      window.to_ns == UINT64_MAX ? "the end" : text::duration_text(window.to_ns));
}

nlohmann::ordered_json window_json(const analysis::Window& window) {
  return {{"from_ns", window.from_ns},
          {"to_ns", window.to_ns == UINT64_MAX ? nlohmann::ordered_json()
                                               : nlohmann::ordered_json(window.to_ns)}};
}

}  // namespace refrain::report
