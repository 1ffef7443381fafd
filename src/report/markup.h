// Text inside XML and HTML.
#pragma once

#include <string>
#include <string_view>

namespace refrain::report {

// `text` as text or as the value of a quoted attribute: & < > " ' are escaped, and what XML 1.0
// does not allow (control characters, what is no UTF-8, U+FFFE and U+FFFF) becomes '?'. Line feeds
// stay.
std::string escaped(std::string_view text);

}  // namespace refrain::report
