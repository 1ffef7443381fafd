// Prediction without a simulation: a regression over runs of the program on fewer processors.
//
//   log2 T = b0 + b1 log2 x1 + ... + g(q)
//
// T is how long a run took between MPI_Init and MPI_Finalize, q its number of ranks, x its input
// variables. g is linear or quadratic, in q or in log2 q. B. Barnes et al., "A Regression-Based
// Approach to Scalability Prediction", ICS 2008, with which PHANTOM, section 7.3.2, compares. There
// runs on at most p0 = 16, 32 and 64 processors are taken, and the best result is reported, which
// needs the measured time. Here, the best model is the one that predicts each of its runs best from
// the others.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "refrain/trace.h"

namespace refrain::sim {

// A run that was made, or the one that is asked for.
struct RegressionRun {
  uint64_t ranks = 1;
  double seconds = 0;
  std::vector<double> inputs;  // above 0
};

struct RegressionModel {
  uint64_t most_ranks = 0;  // p0; the largest number: all runs
  std::string_view form;    // of g: "linear", "quadratic", "linear in log2 q", ...
  uint64_t runs = 0;
  std::vector<double> coefficients;  // b0, b1, ..., those of g
  double seconds = 0;                // predicted
  double error = -1;                 // mean |log2| of runs left out, one at a time; -1: too few
};

struct Regression {
  std::vector<RegressionModel> models;  // the best one first
};

// A usage error: fewer runs than any model has coefficients, or runs that do not tell them apart.
base::Result<Regression> regress(const std::vector<RegressionRun>& runs,
                                 const RegressionRun& target);

// An input variable: "n=400", of which each run's command line has a value ("n=100", "-n 100",
// "--n=100"), or with these values: "n=100,200,200:400".
struct RegressionInput {
  std::string name;
  std::vector<double> of_runs;
  double of_target = 0;
};
// `commands`: of the runs. A usage error says which run has no such value.
base::Result<RegressionInput> parse_input(std::string_view text,
                                          const std::vector<std::string>& commands);

}  // namespace refrain::sim
