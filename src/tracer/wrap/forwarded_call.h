// ForwardedCall: a call of an MPI function that the table of calls does not know.
//
//   program -> MPIX_New (generated wrapper) -> ForwardedCall -> real MPIX_New
//
// The call goes through unchanged and is counted, not recorded: loss `unknown_function`, with the
// function's name and how often it was called. MPI calls that the library makes inside of it are
// the library's own. The recorder does not know objects that the function creates, so they have no
// symbolic name. Objects that it frees or completes are dropped, so that a later object with the
// same handle does not get their names.
//
// Laws: never fails, never changes an argument. Memory of the program is read through the system,
// which reports invalid addresses. Budget: some microseconds per call.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "tracer/calls/forwarded_functions.h"
#include "tracer/wrap/call_scope.h"

namespace refrain::tracer {

class ForwardedCall {
 public:
  // `function`: index in kForwardedNames.
  ForwardedCall(uint32_t function, void* return_address, void* frame);
  ~ForwardedCall() { forget_changed(); }
  ForwardedCall(const ForwardedCall&) = delete;
  ForwardedCall& operator=(const ForwardedCall&) = delete;

  // Handles that the function may free or make, before the call; `count` of them from `place` on.
  template <class H>
  void watch(Kind kind, const H* place, int64_t count = 1) {
    if (scope_.active()) watch_bytes({kind, false, place, sizeof(H), 0}, count);
  }
  void watch(const MPI_Request* place, int64_t count = 1) {
    if (scope_.active()) watch_bytes({Kind::kComm, true, place, sizeof(MPI_Request), 0}, count);
  }

 private:
  struct Place {
    Kind kind;
    bool is_request;
    const void* at;
    size_t size;
    uint64_t before;  // the handle's key
  };

  void watch_bytes(Place first, int64_t count);
  void forget_changed();
  void forget_object(const Place& place, uint64_t now);
  void forget_request(const Place& place, uint64_t now);

  CallScope scope_;
  std::vector<Place> places_;
};

}  // namespace refrain::tracer
