// The calls of a rank with all their parameters, to be compared with those of another one of its
// structure (ACURDION's reference signature, section III D).
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "refrain/trace.h"

namespace refrain::analysis::clusters {

// Keeps what it has worked out of each rank. One thread at a time.
class ReferenceSignatures {
 public:
  explicit ReferenceSignatures(const Trace& trace) : trace_(trace) {}

  // How many calls of two ranks of one structure differ in what they hand to MPI: all parameters
  // but buffers and requests, ends relative to the rank.
  uint64_t differing(Rank a, Rank b);

 private:
  struct Calls {
    std::vector<uint64_t> parameters;  // a hash each, in the order of first appearance
    std::vector<uint64_t> count;
  };
  const Calls& of(Rank rank);

  Trace trace_;
  std::unordered_map<Rank, Calls> known_;
};

}  // namespace refrain::analysis::clusters
