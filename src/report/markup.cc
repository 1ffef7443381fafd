#include "report/markup.h"

#include "report/json_text.h"

namespace refrain::report {

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

}  // namespace refrain::report
