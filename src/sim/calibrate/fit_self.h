// fit_self(): what a rank's processor does for messages to itself, from the samples `self` and
// `self_late` (docs/calibrate.md).
//
// Units: ns, bytes. Threads: any.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/calibrate/fit.h"
#include "sim/calibrate/pieces.h"
#include "sim/calibrate/samples.h"
#include "sim/machine/machine.h"

namespace refrain::sim {

struct FittedSelf {
  Protocol protocol;  // Machine::self
  Curve copies;       // by size: a message, from the call that receives to the end of the wait
  uint64_t samples = 0, outliers = 0;
};

// Nothing without samples of two sizes.
std::optional<FittedSelf> fit_self(const Samples& samples, const FitOptions& options);

}  // namespace refrain::sim
