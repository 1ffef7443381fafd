// Scripted ranks for tests of the engine: a rank is a list of calls, a call posts sends and
// receives and then waits for some requests of the rank.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/engine/engine.h"

namespace refrain::sim::testing {

struct ScriptEnd {
  bool sends = false;
  uint32_t channel = 0, peer = 0, request = 0;
  uint64_t bytes = 0;
  bool is_synchronous = false;
};
struct ScriptCall {
  uint64_t computes = 0;  // ns before it
  std::vector<ScriptEnd> posts;
  std::vector<uint32_t> waits;
};
using ScriptRank = std::vector<ScriptCall>;

struct Script {
  std::vector<ScriptRank> ranks;
};

// Begin and end of each call of each rank.
struct ScriptTimes {
  struct Call {
    Time begin = 0, end = 0;
    bool operator==(const Call&) const = default;
  };
  std::vector<std::vector<Call>> calls;
  bool is_stuck = false;
};

// By the engine. `by_envelopes`: messages meet by their channel as a tag, from any sender.
ScriptTimes simulate(const Machine& machine, const Script& script, EngineResult* result = nullptr,
                     bool has_contention = false, bool by_envelopes = false);
// By a slow and plain program that shares the formulas of costs with it and nothing else.
// `has_tie`: two events of one time may come in any order.
ScriptTimes reference(const Machine& machine, const Script& script, bool& has_tie);

// A machine of these parameters for all distances: L 1000, o_send 100, o_recv 200, g 50, G 0.5,
// cpu_per_byte 0.1, eager_limit 1000, unexpected copy 30 + 0.2 a byte. `more`: lines of the
// distance, `of_range`: of its range.
Machine plain_machine(const std::string& more = "", const std::string& of_range = "");

inline constexpr Time kL = 1000, kSend = 100, kReceive = 200;
inline Time stream(uint64_t bytes) { return static_cast<Time>(bytes) / 2; }
inline Time copied(uint64_t bytes) { return static_cast<Time>(bytes) / 10; }

// Calls that send or receive one message, and wait for it as request 0.
inline ScriptCall send(uint32_t channel, uint32_t to, uint64_t bytes, uint64_t computes = 0) {
  return {computes, {{true, channel, to, 0, bytes}}, {0}};
}
inline ScriptCall receive(uint32_t channel, uint64_t computes = 0) {
  return {computes, {{false, channel, 0, 0, 0}}, {0}};
}

}  // namespace refrain::sim::testing
