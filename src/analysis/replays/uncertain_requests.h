// The requests of a rank whose outcome MPI leaves open, until a call completes them. Of a cancelled
// request a status says no more than that it was cancelled (MPI 4.1, section 3.8.4). Of the other
// requests of a completing call that failed, some may be complete and some not (section 3.7.5):
// those that are not may be named by later calls, where another run has MPI_REQUEST_NULL.
#pragma once

#include <unordered_set>

#include "refrain/calls.h"

namespace refrain::analysis {

class UncertainRequests {
 public:
  // The next call of the rank, after the questions about it were asked.
  void note(const Signature& s);
  // Whether it was completed beside one that failed, as far as is known.
  bool may_be_complete(const Value& request) const;
  // Whether the call is about one of them.
  bool has_any_of(const Signature& s) const;

 private:
  std::unordered_set<SignatureId> cancelled_, beside_failed_;
};

}  // namespace refrain::analysis
