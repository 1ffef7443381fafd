// Whether a trace is a recorded replay of another one: the same calls with the same parameters, but
// for a closed list of what a replay cannot or must not repeat (docs/replay.md).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "refrain/calls.h"
#include "refrain/trace.h"

namespace refrain::analysis {

// What may differ; each is counted.
enum class Allowed : uint8_t {
  kBuffers,    // which memory, addresses, opaque pointers
  kFunctions,  // callbacks: stand-ins are called
  kNames,      // paths, ports and service names, which are never taken from a trace
  kInfos,      // hints are not passed on
  kWildcards,  // a receive or probe asks for what it took, or for nothing if it took nothing
  kRequests,   // those that a test or a wait for some leaves open
  kForms,      // MPI_Send for MPI_Send_c, MPIX_Barrier_init for MPI_Barrier_init
  kAnswers,    // what the MPI, the machine or a clock says of itself
  kLeftOut,    // calls that ask only, which the other MPI lacks; failed tests of windows and spawns
  kUnseen,     // objects and requests whose making the original does not show
  kPlaces,     // call sites: the replay was recorded by what it cannot tell them
  kCut,        // calls behind the consistent prefix of a trace that ends early; MPI_Finalize there
  kNumbers,    // names of objects: of several threads who came first; datatypes given out anew
  kReplaced,   // tags above the largest of another MPI, datatypes that it lacks
};
inline constexpr size_t kAllowedCount = 14;
std::string_view to_string(Allowed allowed);

struct ReplayDifference {
  Rank rank = 0;
  uint32_t thread = 0;
  uint64_t seq = 0;        // in the original
  uint64_t again_seq = 0;  // in the replay
  // Empty: a call is missing, or there is one more.
  std::string_view call, again_call;
  std::string_view parameter;  // empty: the functions differ
  Value recorded, replayed;
};

struct ReplayComparison {
  uint64_t calls = 0;  // of the original that were looked at
  std::array<uint64_t, kAllowedCount> allowed{};
  uint64_t allowed_of(Allowed what) const { return allowed[static_cast<size_t>(what)]; }
  std::optional<ReplayDifference> first;  // of the lowest rank that has one
};

// Fails where the traces cannot be compared: unlike numbers of ranks. O(calls).
Result<ReplayComparison> compare_replay(const Trace& original, const Trace& again);

}  // namespace refrain::analysis
