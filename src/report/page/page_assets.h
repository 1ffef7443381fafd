// The page's program, as the build bundled it from web/.
#pragma once

#include <string_view>

namespace refrain::report {

extern const std::string_view kPageScript;  // empty: none
extern const std::string_view kPageStyle;
extern const std::string_view kWhyNoPages;  // empty when there is one

}  // namespace refrain::report
