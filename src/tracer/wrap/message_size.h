// The size of a call for the filter by size (size_filter.h): messages and accesses outside the
// limits are left out, both ends or neither.
//
//   send, persistent send    count and datatype                       decided before the call
//   receive, probe           the bytes that came, by the status       after it
//   nonblocking receive      the same, when it is complete            later: see held_calls.h
//   collective               the amount that is the same on all ranks; where it may differ: kept
//   access to a window/file  what this rank hands in or takes; of files only if not collective
//
// A size that cannot be known (a datatype that was never seen, a failed call) keeps the call.
//
// Laws: the functions here are for calls that are not plain (CallScope::is_plain()), and do nothing
// when there is no such filter. They count what they leave out.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "tracer/filter/size_filter.h"
#include "tracer/wrap/call_scope.h"

namespace refrain::tracer {

// A call that is about to be made.
struct NextCall {
  RecordedThread& location;
  mpi::CallId id;
};

// ---- before the call: what it is to be marked as (CallScope::mark()), 0 for nothing ----
mpi::CallId size_of_send(const NextCall& call, int64_t count, MPI_Datatype type, int dest);
mpi::CallId size_of_access(const NextCall& call, int64_t count, MPI_Datatype type);
// What every rank hands in, gets, or gives to and gets from each other one.
mpi::CallId size_of_collective(const NextCall& call, int64_t count, MPI_Datatype type,
                               MPI_Comm comm);
// The same where the root says it by other parameters than the others.
mpi::CallId size_of_rooted(const NextCall& call, int root, MPI_Comm comm, int64_t root_count,
                           MPI_Datatype root_type, int64_t count, MPI_Datatype type);
// MPI_Pready and the like: a filter has left the request out.
mpi::CallId size_of_part(const NextCall& call, MPI_Request request);
// A receive that goes on after the call: it is held.
mpi::CallId size_of_receive(const NextCall& call, int64_t count, MPI_Datatype type);
// One that also sends: kept when either message is; one to or from nowhere is none.
mpi::CallId size_of_exchange(const NextCall& call, int64_t send_count, MPI_Datatype send_type,
                             int dest, int64_t count, MPI_Datatype type, int source);

// ---- after a blocking receive or probe ----
// Leaves the call out if what it received says so. `posted`: the room it had, of a probe any.
void filter_received(CallScope& scope, int rc, const MPI_Status* status, int64_t count,
                     MPI_Datatype type);
// The same for one that also sends.
void filter_exchanged(CallScope& scope, int rc, const MPI_Status* status, int64_t send_count,
                      MPI_Datatype send_type, int dest, int64_t count, MPI_Datatype type,
                      int source);

// ---- after a completion: the size of what a request received ----
// `code`: what its status or the call says of errors.
Verdict verdict_of(const SizeFilter& filter, const MPI_Status& status, int code, uint64_t posted,
                   bool* unknown);

}  // namespace refrain::tracer
