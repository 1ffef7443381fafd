// Checks the content of a trace: the rules of docs/format.md that the decoder cannot check field by
// field. Traces that are put together in memory are checked by the same code.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "format/rules.h"
#include "format/trace_data.h"

namespace refrain::format {

// One violated MUST of docs/format.md.
struct Finding {
  int rule = 0;         // enum Rule
  std::string section;  // "header", "signatures", ...
  int64_t offset = -1;  // in the file, or in the section's raw bytes when in_raw; -1 unknown
  bool in_raw = false;
  std::string text;
  std::string to_string() const;  // "signatures, raw byte 17: ... (rule 22)"
};

// What is wrong with the content, section by section; at most `max_findings`. The encoder writes no
// trace and the decoder returns none that has a finding. Total: indices are looked at before they
// are used. Thread safe.
std::vector<Finding> check_content(const TraceData& trace, size_t max_findings = 100);

}  // namespace refrain::format
