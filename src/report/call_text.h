// CallFormatter: calls as lines of text or JSON, fast.
//
// All of a call but its number is the same each time that a rank makes it, so a line is rendered
// once per signature and copied from then on.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "refrain/calls.h"
#include "report/value_text.h"

namespace refrain::report {

class CallFormatter {
 public:
  // Text for a call site: "heat.c:41", "libx.so+0x12", or empty for none. Asked once per site.
  using SiteName = std::function<std::string(DefinitionId)>;

  // For the calls of one rank. Keeps a reference to `trace`.
  CallFormatter(const Trace& trace, Style style, SiteName site_name);

  // Appends one line without its end. False when the call is longer than kMaxTextBytes.
  bool append(std::string& out, const Call& call);

 private:
  bool render(std::string& out, const Call& call);
  bool append_arguments(std::string& out, const Signature& signature);
  bool append_result(std::string& out, const Signature& signature);
  bool append_field(std::string& out, std::string_view key, const Value& value);

  const Trace& trace_;
  const Style style_;
  const SiteName site_name_;
  std::vector<std::string> tails_;  // by signature: what follows the number of the call
};

}  // namespace refrain::report
