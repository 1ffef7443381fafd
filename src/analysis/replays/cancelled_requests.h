// The requests that a rank has cancelled and not completed. Of such a request a status says no more
// than that it was cancelled (MPI 4.1, section 3.8.4).
#pragma once

#include <unordered_set>

#include "refrain/calls.h"

namespace refrain::analysis {

class CancelledRequests {
 public:
  // The next call of the rank, after has_any_of() was asked about it.
  void note(const Signature& s);
  // Whether the call is about one of them.
  bool has_any_of(const Signature& s) const;

 private:
  std::unordered_set<SignatureId> open_;
};

}  // namespace refrain::analysis
