// RankSignature: what one rank did, as eleven numbers, for the comparison of ranks.
//
// Worked out once, at the end, from a rank's grammar and from what each of its call signatures says
// (ACURDION, section III A): it costs nothing while the program runs, and takes time in proportion
// to the grammar, not to the run.
//
// Units: counts in elements of the datatype, times in nanoseconds, ends of messages as distances
// from the own rank. A feature that no call has is 0.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "grammar/grammar.h"

namespace refrain::similarity {

enum class RankFeature : uint8_t {
  kCallPath,  // which calls, from where, in which order
  kCount,     // this and the following ones: means over all calls that have such a parameter
  kSource,
  kDestination,
  kKey,
  kColor,
  kTag,
  kComputation,  // time before a call
  kCommunication,
  kLoop,   // how often loops go round
  kTypes,  // which datatypes, operations and communicators
};
inline constexpr size_t kRankFeatures = 11;
std::string_view to_string(RankFeature feature);

// The features with a mean are neighbours.
inline constexpr size_t kRankMeans = 8;
constexpr RankFeature mean_feature(size_t mean) {
  return static_cast<RankFeature>(mean + static_cast<size_t>(RankFeature::kCount));
}
constexpr size_t mean_of(RankFeature feature) {
  return static_cast<size_t>(feature) - static_cast<size_t>(RankFeature::kCount);
}

// What calls of one call signature have in common. Signatures of different ranks that mean the same
// have equal ones: `stack` goes by build id and offset in the module, not by address.
struct RankEvent {
  struct Value {
    RankFeature feature;  // one with a mean
    int64_t value;
  };
  uint64_t stack = 0;  // of the call path
  // One for each parameter of the kind: a Sendrecv has two counts. Ends are relative, wildcards
  // stand for what they took, and MPI_PROC_NULL is left out.
  std::vector<Value> values;
  std::vector<uint8_t> types;  // below kRankTypes
};

// Datatypes, operations and communicators have a bit each: 0 for MPI_CHAR, 32 for MPI_MAX, 55 for
// MPI_COMM_SELF (section III A); who numbers the others is the caller.
inline constexpr size_t kRankTypes = 128;

// Of all calls of a rank.
struct RankTimes {
  double computation_ns = 0;  // outside of MPI
  double communication_ns = 0;
};

struct RankSignature {
  uint64_t call_path = 0;
  std::array<int64_t, kRankMeans> means{};
  // Means of the repetitions of loops, 16 bits for each level, saturating: of the innermost ones in
  // the lowest, of all above the third level in the highest.
  uint64_t loop = 0;
  std::array<uint64_t, kRankTypes / 64> types{};

  bool operator==(const RankSignature&) const = default;
  bool is_equal(RankFeature feature, const RankSignature& other) const;
};

// RankSignature::loop of a rank with this grammar.
uint64_t loops_of(const grammar::Grammar& grammar);

// `grammar` is valid; a terminal is an index in `events`. Each place of a rule is one event of the
// call path, so that a loop contributes once, however often it goes round.
RankSignature rank_signature(const grammar::Grammar& grammar, std::span<const RankEvent> events,
                             const RankTimes& times);

}  // namespace refrain::similarity
