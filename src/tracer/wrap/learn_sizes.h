// Takes the sizes of messages from Wait*/Test* calls, for the filter by size only.
#pragma once

#include "tracer/wrap/completion.h"

namespace refrain::tracer {

// True when the statuses tell per request what went wrong.
inline bool is_error_in_status(int rc) {
  return rc == MPI_ERR_IN_STATUS || error_class(rc) == MPI_ERR_IN_STATUS;
}

inline int same(int k) { return k; }

// Out of the way of calls that have nothing to do with it.
template <class Index>
[[gnu::noinline, gnu::cold]] void learn_held_sizes(CallScope& scope, RequestSnapshot& requests,
                                                   int rc, int n, const MPI_Status* used,
                                                   const MPI_Request* now, Index index) {
  const bool in_status = rc != MPI_SUCCESS && is_error_in_status(rc);
  for (int k = 0; k < n; ++k)
    requests.learn_size(index(k), used[k], in_status ? used[k].MPI_ERROR : rc);
  requests.follow_sizes(scope, now);
}

// Under the filter by size: n requests are complete, element k of `used` being the status of
// request index(k).
template <class Index>
void learn_sizes(CallScope& scope, RequestSnapshot& requests, int rc, int n, const MPI_Status* used,
                 const MPI_Request* now, Index index) {
  if (requests.has_held()) [[unlikely]]
    learn_held_sizes(scope, requests, rc, n, used, now, index);
}

// The same for the one that such a call chose, if it completed one: also one whose message was too
// long.
inline void learn_size(CallScope& scope, RequestSnapshot& requests, int rc, const int* chosen,
                       const MPI_Status* used, const MPI_Request array[]) {
  if (!requests.has_held()) return;
  const bool done = (rc == MPI_SUCCESS || error_class(rc) == MPI_ERR_TRUNCATE) && *chosen >= 0 &&
                    *chosen < requests.count();
  learn_sizes(scope, requests, rc, done ? 1 : 0, used, array, [&](int) { return *chosen; });
}

}  // namespace refrain::tracer
