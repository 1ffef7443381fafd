#include <cstdio>

#include "cli/common.h"
#include "report/json_text.h"

namespace refrain::cli {

int report(const base::Error& error) {
  // A file's name may hold anything: it stays in the line all the same.
  std::fprintf(stderr, "refrain: %s\n", refrain::report::printable(error.to_string()).c_str());
  return static_cast<int>(error.code);
}

}  // namespace refrain::cli
