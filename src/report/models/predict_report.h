// sim::Prediction as text, JSON and a picture. docs/predict.md describes the fields.
#pragma once

#include <string>

#include "sim/machine/machine.h"
#include "sim/predict/predict.h"
#include "sim/predict/regression.h"

namespace refrain::report {

// `measured_s`: what the run really takes, in seconds; 0: nobody knows.
std::string predict_text(const sim::Prediction& prediction, const sim::Machine& machine,
                         double measured_s);
std::string predict_json(const sim::Prediction& prediction, const sim::Machine& machine,
                         double measured_s);
// Of a regression over runs; the best model first.
std::string regression_text(const sim::Regression& regression, const sim::RegressionRun& target,
                            double measured_s);
std::string regression_json(const sim::Regression& regression, const sim::RegressionRun& target,
                            double measured_s);
// A bar for each swept part, from the least to the largest prediction; the longest first (SVG).
std::string tornado_svg(const sim::Prediction& prediction);

}  // namespace refrain::report
