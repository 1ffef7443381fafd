// CallFormatter: calls as lines of text or JSON, fast.
//
// All calls of a rank with the same signature have the same line except for the number of the call,
// so a line is rendered once per signature and copied from then on.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "refrain/calls.h"
#include "text/path_names.h"
#include "text/values.h"

namespace refrain::report {

class CallFormatter {
 public:
  // Text for a call site: "heat.c:41", "libx.so+0x12", or empty for none. Asked once per site.
  using SiteName = std::function<std::string(DefinitionId)>;

  // For the calls of one rank. Keeps a reference to `trace`.
  CallFormatter(const Trace& trace, text::Style style, SiteName site_name);

  // Makes append() show the call path as well, as these steps, the outermost first: once per
  // signature.
  using PathSteps = std::function<const std::vector<text::PathStep>&(DefinitionId)>;
  void show_paths(PathSteps steps) { steps_ = std::move(steps); }

  // Appends one line without its end. False when the call is longer than kMaxTextBytes.
  bool append(std::string& out, const Call& call);

 private:
  // What follows the number of a call, but its times, which come at `times_at`.
  struct Tail {
    std::string text;
    size_t times_at = 0;
  };
  void append_tail(std::string& out, const Tail& tail, const Call& call) const;
  void append_times(std::string& out, const Call& call) const;
  bool render(Tail& tail, const Call& call);
  bool append_arguments(std::string& out, const Signature& signature);
  void append_path(std::string& out, DefinitionId path);
  bool append_result(std::string& out, const Signature& signature);
  bool append_field(std::string& out, std::string_view key, const Value& value);

  const Trace& trace_;
  const text::Style style_;
  const SiteName site_name_;
  PathSteps steps_;          // empty: no paths
  std::vector<Tail> tails_;  // by signature
};

}  // namespace refrain::report
