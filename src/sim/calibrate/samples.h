// Samples: what refrain-calibrate-<mpi> measures between two ranks, as lines of JSON.
//
//   {"refrain_samples": 1, "distance": "core", "mpi": "...", "hosts": ["a", "a"]}
//   {"test": "pingpong", "bytes": 8, "ns": [1200, 1180, ...]}
//
// docs/calibrate.md says what each test measures. Units: ns, bytes. Errors: a file that is no such
// file is a usage error with file and line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/machine/machine.h"

namespace refrain::sim {

enum class SampleTest : uint8_t {
  kPingPong,  // a message and one of as many bytes back, measured by who began
  kSend,      // the call that begins a send whose receive was posted long before
  kReceive,   // the wait for a posted receive whose message came long before
  kLate,      // a receive that is posted long after its message, or its request, came
  kBurst,     // `count` messages, until an empty answer to all of them is back
  kDelayed,   // a blocking send whose receive is posted `delay_ns` later
  kOverlap,   // the wait for a receive after a computation; the sender computed, too
};
inline constexpr size_t kSampleTests = 7;
std::string_view name_of(SampleTest test);

// All samples of a test with the same parameters.
struct SampleCell {
  SampleTest test = SampleTest::kPingPong;
  uint64_t bytes = 0;
  uint64_t count = 0;     // kBurst
  uint64_t delay_ns = 0;  // kDelayed
  std::vector<double> ns;
};

struct Samples {
  Distance distance = Distance::kCore;
  std::string mpi;
  std::vector<std::string> hosts;
  std::vector<SampleCell> cells;
};

base::Result<Samples> read_samples(const std::string& path);
// `name` stands for the file in messages.
base::Result<Samples> parse_samples(std::string_view text, const std::string& name);

}  // namespace refrain::sim
