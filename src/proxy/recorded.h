// What stands in the order of calls and not in single ones: what receives from anybody took, and
// how long ranks computed between the calls.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "proxy/families.h"
#include "proxy/statement.h"
#include "proxy/symbolic.h"

namespace refrain::proxy {

// Of one family: by terminal.
struct Recorded {
  // Name of the sequence: of what a receive took, of where memory of a dynamic window was attached.
  std::map<uint32_t, std::string> taken;
  std::vector<double> gap_ns;  // before each of its calls, in the mean
  double any_gap_ns = 0;       // the same before any call, where no more is known
};

// The sequences, as definitions of the program, and where the times are from.
struct RecordedTexts {
  std::vector<std::string> taken;
  std::vector<double> share;  // by rank: its work, in parts of that of its family's mean
  // "times of calls", "gaps of signatures", "totals of ranks" or "nothing"
  std::string compute;
};

// Walks the calls where it has to: for what was taken, and for times of single calls.
base::Result<std::vector<Recorded>> recorded_of(Symbolic& symbolic,
                                                const std::vector<Family>& families,
                                                RecordedTexts& texts);

}  // namespace refrain::proxy
