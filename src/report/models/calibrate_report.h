// What `refrain calibrate` found, as text, JSON and a picture.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/calibrate/fit.h"
#include "sim/calibrate/fit_self.h"

namespace refrain::report {

struct CalibratedDistance {
  sim::Distance distance = sim::Distance::kCore;
  sim::FittedProtocol fitted;
  sim::CoresTaken cores_taken;
  size_t starts = 1;  // of the ranks that measured
};
// One line each, without an end, of what makes the numbers doubtful; empty where nothing does.
std::vector<std::string> calibrate_warnings(const CalibratedDistance& one);

// `self`: messages of a rank to itself, if they were measured.
std::string calibrate_text(const std::vector<CalibratedDistance>& found,
                           const std::optional<sim::FittedSelf>& self);
std::string calibrate_json(const std::vector<CalibratedDistance>& found,
                           const std::optional<sim::FittedSelf>& self);
// Half round trips, sends and receives by size, measured and fitted, on logarithmic axes (SVG).
std::string calibrate_svg(const std::vector<CalibratedDistance>& found);

}  // namespace refrain::report
