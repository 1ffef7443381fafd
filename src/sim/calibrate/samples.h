// Samples: what refrain-calibrate-<mpi> measures between two ranks, as lines of JSON.
//
//   {"refrain_samples": 1, "distance": "core", "mpi": "...", "hosts": ["a", "a"]}
//   {"test": "pingpong", "bytes": 8, "ns": [1200, 1180, ...]}
//   {"cores_taken": [3, 1], "seconds": 21.5}
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
  kProbed,  // ... twice `delay_ns` later, between which the receiver has probed for another message
  kTaken,   // a send whose receiver waits for it, until it is sent
  kExchange,  // `count` exchanges in a row: a receive and a send begin, and are waited for
  kOverlap,   // the wait for a receive after a computation; the sender computed, too
  kSelf,      // `count` messages of a rank to itself in a row, each received before it is sent
  kSelfLate,  // ... each sent before its receive is posted
};
inline constexpr size_t kSampleTests = 12;
std::string_view name_of(SampleTest test);

// All samples of a test with the same parameters.
struct SampleCell {
  SampleTest test = SampleTest::kPingPong;
  uint64_t bytes = 0;
  uint64_t count = 0;     // kBurst, kExchange, kSelf, kSelfLate
  uint64_t delay_ns = 0;  // kDelayed, kProbed
  std::vector<double> ns;
  std::vector<size_t> lines;  // how many samples of `ns` each line of the file has, in order
  size_t start = 0;           // of the ranks, by join()
  // The same test in other starts; these have none.
  std::vector<SampleCell> other_starts;
};

// How often others got the cores of the two ranks while these could have gone on, and in how long.
struct CoresTaken {
  uint64_t count = 0;
  double seconds = 0;  // 0: not known
  // Each time makes a sample longer by as long as others run, thousands of times what a message
  // takes. A core of its own is taken a few times a second, by the system.
  bool is_often() const {
    constexpr double kOften = 50;  // a second
    return seconds > 0 && static_cast<double>(count) > kOften * seconds;
  }
};

struct Samples {
  Distance distance = Distance::kCore;
  std::string mpi;
  std::vector<std::string> hosts;
  std::vector<SampleCell> cells;
  CoresTaken cores_taken;
  size_t starts = 1;
};

// Adds what another start of the ranks measured, at the same distance, with the same MPI; else a
// usage error. `name` stands for the file of `more` in it.
base::Status join(Samples& to, Samples more, const std::string& name);

base::Result<Samples> read_samples(const std::string& path);
// `name` stands for the file in messages.
base::Result<Samples> parse_samples(std::string_view text, const std::string& name);

}  // namespace refrain::sim
