// Persistent requests with nobody (MPI_PROC_NULL), for calls that complete some of several.
//
// MPICH 4.0 takes such a request for inactive in MPI_Waitany, MPI_Testany, MPI_Waitsome and
// MPI_Testsome, so these never name it; elsewhere they do. Where a call has named it and this MPI
// would not, a message of this process to itself stands in its place for the length of the call.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

namespace refrain::replay {

// The recorder's name for a request goes from one handle to the other.
void tell_handle(uint64_t before, uint64_t now);

// It may be started again: the recorded MPI let the program do that before a call had named it.
void end_if_complete(uint64_t request);

class WithNobody {
 public:
  WithNobody() = default;
  WithNobody(const WithNobody&) = delete;
  // After the call: the requests are complete, and stand for themselves again.
  ~WithNobody();
  // Whether this MPI's calls name such requests. `own` is a communicator of this process alone.
  static bool are_named(MPI_Comm own);
  // What the call is given in the place of `request`, which is active.
  uint64_t stand_for(uint64_t request, MPI_Comm own);

 private:
  static constexpr int kTag = 1;  // requests that never end have 0
  struct Pair {
    uint64_t request, stands;
  };
  std::vector<Pair> pairs_;
};

}  // namespace refrain::replay
