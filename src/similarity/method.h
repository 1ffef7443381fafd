// The methods that decide whether two segments match, by name: nine of Mohror's thesis (section
// 4.3), with the thresholds that it found best (5.2.1 within a process, 5.3.1 between processes),
// and one of our own (docs/decisions/0017).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace refrain::similarity {

enum class Method : uint8_t {
  kRelDiff,    // each pair of measurements: difference by the larger one
  kAbsDiff,    // each pair of measurements: difference in time
  kManhattan,  // Minkowski distances, by the largest measurement
  kEuclidean,
  kChebyshev,
  kIterK,     // the first k of each structure
  kIterAvg,   // the mean of each structure
  kAvgWave,   // Euclidean distance of wavelet transforms
  kHaarWave,  // the same with the orthonormal Haar wavelet
  kAuto,      // means of clusters with bounded errors
};
inline constexpr int kMethodCount = 10;

struct MethodSpec {
  Method method = Method::kAuto;
  // Within a process, and between processes. A ratio; ns for absDiff; k for iter_k (which has none
  // between processes, nor has iter_avg: 5.3); the largest relative error for auto.
  double threshold = 0;
  double inter_threshold = 0;
  // Of auto, asked for without a threshold: this one is where to begin, and whoever has the times
  // of all ranks at hand tightens it until no trend is lost (analysis/reduce/keep_trends.h).
  bool keeps_trends = false;

  bool matches_between_processes() const {
    return method != Method::kIterK && method != Method::kIterAvg;
  }
  bool has_threshold() const { return method != Method::kIterAvg; }
  bool operator==(const MethodSpec&) const = default;
};

const char* method_name(Method method);
MethodSpec default_spec(Method method);

// METHOD[:THRESHOLD[:THRESHOLD BETWEEN PROCESSES]], for instance `avgWave`, `relDiff:0.5`,
// `iter_k:10`, `auto:0.05`. Large and small letters are the same. absDiff takes microseconds, the
// unit that the thesis's traces have, or a number with ns, us, ms or s. The error says what the
// method would take.
base::Result<MethodSpec> parse_method(std::string_view text);
// A threshold as parse_method() takes it without a unit: microseconds for absDiff.
double in_own_unit(Method method, double threshold);
// In the form that parse_method() takes; the second threshold only when it is not the default one.
std::string to_text(const MethodSpec& spec);

// Whether these thresholds make sense; parse_method() has asked already.
base::Status check_spec(const MethodSpec& spec);

}  // namespace refrain::similarity
