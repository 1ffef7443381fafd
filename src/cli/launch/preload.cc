#include "cli/launch/preload.h"

#include <algorithm>
#include <cstdlib>

#include "cli/launch/record_options.h"

namespace refrain::cli {

void preload(const std::string& library) {
  const std::string before = environment("LD_PRELOAD");
  for (size_t begin = 0; begin < before.size();) {
    const size_t end = std::min(before.find_first_of(" :", begin), before.size());
    if (before.compare(begin, end - begin, library) == 0) return;
    begin = end + 1;
  }
  setenv("LD_PRELOAD", (before.empty() ? library : library + ":" + before).c_str(), 1);
}

void allow_before_address_sanitizer() {
  const std::string before = environment("ASAN_OPTIONS");
  const std::string option = "verify_asan_link_order";
  if (before.find(option) != std::string::npos) return;
  setenv("ASAN_OPTIONS", (before.empty() ? option + "=0" : before + ":" + option + "=0").c_str(),
         1);
}

}  // namespace refrain::cli
