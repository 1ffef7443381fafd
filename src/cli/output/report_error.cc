#include <cstdio>
#include <utility>

#include "cli/output/common.h"
#include "text/escape.h"

namespace refrain::cli {
namespace {

std::string& called() {
  static std::string word = "refrain";
  return word;
}

void (*before_report)() = nullptr;

}  // namespace

void set_called_as(std::string word) { called() = std::move(word); }
const std::string& called_as() { return called(); }
void set_before_report(void (*action)()) { before_report = action; }

int report(const base::Error& error) {
  if (before_report != nullptr) before_report();
  // A file's name may hold anything: it stays in the line all the same.
  std::fprintf(stderr, "refrain: %s\n", refrain::text::printable(error.to_string()).c_str());
  return static_cast<int>(error.code);
}

}  // namespace refrain::cli
