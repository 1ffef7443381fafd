// fit_protocol(): the parameters of LogGOPS from samples of messages between two ranks.
//
// docs/calibrate.md has the formulas. Each parameter has an interval of 95 %: the estimates of the
// samples are drawn anew from their errors, 400 times, and everything is fitted again. Of several
// starts of the ranks (join()) the draws take some more and some less, each with all of its cells.
// Where a curve is not straight, its errors grow by as much as it is off. Same samples, same
// result.
//
// LogGP from round trips, bursts and delayed receives goes back to D. Culler et al., "Assessing
// Fast Network Interfaces", IEEE Micro 1996; the parameters are those of LogGOPS (T. Hoefler et
// al., HPDC 2010).
//
// Threads: any. Errors: samples that lack a test that is needed are a usage error.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/result.h"
#include "sim/calibrate/pieces.h"
#include "sim/calibrate/samples.h"
#include "sim/machine/machine.h"

namespace refrain::sim {

struct FitOptions {
  PieceOptions pieces;
  uint32_t draws = 400;
  uint64_t seed = 1;
};

struct FittedProtocol {
  Protocol protocol;
  // By size; times in ns: half a round trip, the call that sends, the wait that receives.
  Curve half_trips, sends, receives;
  uint64_t samples = 0, outliers = 0;
  // Half a round trip of the shortest message, ns: the median in each round of each start.
  struct Round {
    size_t start = 0, round = 0;  // from 0 on
    double ns = 0;
  };
  std::vector<Round> shortest;
  // The fastest of them and the slowest, where they differ by more than starts do by where their
  // memory lies: cores were not equally far.
  std::optional<std::pair<Round, Round>> uneven() const;
};

base::Result<FittedProtocol> fit_protocol(const Samples& samples, const FitOptions& options);

// Sizes; UINT64_MAX where no message is larger than that.
struct Limits {
  uint64_t eager = UINT64_MAX;         // the largest message that does not wait for its receive
  uint64_t acknowledged = UINT64_MAX;  // above, they wait for their receiver; less than `eager`
};
// From the tests kDelayed, and kProbed where they are there.
Limits fit_limits(const Samples& samples);

}  // namespace refrain::sim
