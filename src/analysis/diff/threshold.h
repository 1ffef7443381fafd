// Thresholds on what may change: "bytes>+5%", "calls@MPI_Alltoall<>0", "time@solve>10%".
//
//   METRIC [@WHERE]... OP [+|-] NUMBER [UNIT]
//
// METRIC is one of metrics(). WHERE leaves out everything but a function (MPI_Send) or call paths
// whose text contains it (solve, heat.c:41); several must all hold. The change, after minus before,
// is compared with NUMBER: `>` is crossed by a larger one, `<` by a smaller one (its number is
// negative unless it has a sign), `<>` by either. UNIT: % of what it was before, K M G T (powers of
// 1024) for bytes, ns us ms s for times; none: as it is counted. Times must exceed the threshold by
// more than the noise.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/diff/diff.h"
#include "base/result.h"

namespace refrain::analysis::diff {

enum class Metric : uint8_t {
  kCalls,
  kPolls,
  kFailed,
  kBytes,
  kMessages,
  kOneSided,
  kTime,
  kWaits,
  kSignatures,
  kNewSignatures,
  kVanishedSignatures,
  kPaths,
  kNewPaths,
  kVanishedPaths,
  kChangedPaths,
  kPartners,
  kNewPartners,
  kVanishedPartners,
  kChangedPartners,
  kChangedLoops,
  kRanks,
};
inline constexpr int kMetrics = 21;
std::string_view name_of(Metric metric);
// What a number of it counts: "bytes", "ns"; empty for plain numbers.
std::string_view unit_of(Metric metric);

struct Threshold {
  enum class Op : uint8_t { kAbove, kBelow, kBeyond };
  std::string text;  // as it was given
  Metric metric{};
  std::vector<std::string> where;
  Op op{};
  double limit = 0;  // with its sign; a part of 1 if is_relative
  bool is_relative = false;
};

// A usage error says what is understood.
base::Result<Threshold> parse_threshold(std::string_view text);

// What holds of two runs that communicate the same: everything that does not depend on time.
std::vector<Threshold> default_thresholds();

struct Verdict {
  Threshold threshold;
  Measure value;
  bool is_crossed = false;
  bool is_in_noise = false;  // crossed but for the noise
};

// Whether the text of a call's path contains a part of it.
using IsAt = std::function<bool(const CallChange&, const std::string& where)>;

// Fails when there is nothing where a threshold looks (kUsage), and for `waits` without times
// (kUnsupported).
base::Result<Verdict> judge(const Diff& diff, const Threshold& threshold, const IsAt& is_at);

}  // namespace refrain::analysis::diff
