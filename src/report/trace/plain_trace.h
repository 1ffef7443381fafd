// The cost of a conventional trace (`record --no-compress`): bytes, flushes and the time of
// writing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace refrain::report {

struct PlainTrace {
  struct Rank {
    uint64_t bytes = 0, flushes = 0, write_ns = 0;
  };
  uint64_t buffer_bytes = 0;
  bool write = true;  // else full buffers were thrown away
  Rank all;
  std::vector<Rank> ranks;  // empty: there were too many
};

// From the trace's text of that name; nullopt: there is none that can be understood.
std::optional<PlainTrace> parse_plain_trace(std::string_view text);
nlohmann::ordered_json plain_trace_json(const PlainTrace& plain);
std::string plain_trace_text(const PlainTrace& plain);

}  // namespace refrain::report
