// The output of `refrain check` on one file, and on the bound of its times.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace refrain::report {

struct CheckReport {
  std::string path;
  std::string version;                // of the format: "1.2"
  uint64_t rules = 0;                 // that hold
  uint64_t calls = 0, ranks = 0;      // of a file without findings
  bool complete = false;              // the same
  std::vector<std::string> findings;  // at most so many as the reader looks for
  // Times against an exact recording of the same run.
  struct Against {
    std::string path;
    uint64_t calls = 0;
    double worst = 0;  // error in parts of what is allowed
  };
  std::optional<Against> against;
};

std::string check_text(const CheckReport& report);
std::string check_json(const CheckReport& report);

}  // namespace refrain::report
