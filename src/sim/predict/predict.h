// predict(): a simulation with an interval, and sweeps over the machine.
//
// The interval of 90 % comes from kDraws simulations, each with parameters of the network drawn
// from their intervals, and with the computation of each rank drawn from what is known of its units
// (UnitTimes::deviations). Simulations run side by side; results do not depend on how many do.
// PHANTOM, section 7.5, predicts one number; sweeps and intervals are ours.
//
// Units: ns. Threads: predict() makes its own. Errors: those of simulate(); a deadlock is a
// failure.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "refrain/trace.h"
#include "sim/machine/machine.h"
#include "sim/predict/unit_times.h"
#include "sim/run/simulate.h"

namespace refrain::sim {

enum class SweptPart : uint8_t {
  kBandwidth,  // of messages and links
  kLatency,    // L, handshakes, hops
  kOverhead,   // o and cost of a byte, of processors
  kCompute,    // speed of processors
};
std::string_view name_of(SweptPart part);

// One part of the machine by these factors of what it is.
struct Sweep {
  SweptPart part = SweptPart::kBandwidth;
  std::vector<double> factors;
};

// "bandwidth=1..4,latency=0.5..2:9": from..to, in :N steps (5 without) of equal ratios, or one
// factor. Nothing, an unknown name or a factor that is not above 0 is a usage error.
base::Result<std::vector<Sweep>> parse_sweeps(std::string_view text);

// The machine with a part that is `factor` times as large (bandwidth, latency, overhead) or fast.
Machine scaled(const Machine& machine, SweptPart part, double factor);
// The machine with all parameters drawn from their intervals; the same for the same seed.
Machine drawn(const Machine& machine, uint64_t seed);

inline constexpr uint32_t kDraws = 30;

struct PredictOptions {
  SimulateOptions simulate;
  const UnitTimes* times = nullptr;  // nullptr: computation of the trace (recorded_spread.h)
  std::vector<Sweep> sweeps;
  uint32_t draws = kDraws;  // 0: no interval
  uint64_t seed = 1;
  uint32_t threads = 0;  // 0: as many as the computer has
};

struct Prediction {
  Simulation simulation;         // with the values as they are
  Time low_ns = 0, high_ns = 0;  // 90 %
  std::vector<Time> draws;       // predicted times, ascending
  struct Point {
    SweptPart part = SweptPart::kBandwidth;
    double factor = 1;
    Time predicted_ns = 0;
  };
  std::vector<Point> sweep;  // in the order of the sweeps
};

base::Result<Prediction> predict(const Trace& trace, const Machine& machine,
                                 const PredictOptions& options);

}  // namespace refrain::sim
