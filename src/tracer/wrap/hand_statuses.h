// Encodes the statuses of completed requests in hand-written wrappers.
#pragma once

#include <cstdint>

#include "mpi/constant_ids.h"
#include "tracer/wrap/completion.h"

namespace refrain::tracer::hand {

// One completed request and its status, or the message that a wildcard receive took when the
// program does not want the status.
inline void one_status(Encoder& e, const RequestSnapshot& requests, int i, const MPI_Status* given,
                       const MPI_Status* used) {
  if (given != MPI_STATUS_IGNORE) return requests.encode_status(e, i, *used, false);
  if (requests.is_wildcard(i) && used != MPI_STATUS_IGNORE)
    return requests.encode_matched(e, i, *used);
  e.constant(mpi::kConst_MPI_STATUS_IGNORE);
}

// The statuses of several requests: element k belongs to request index(k).
template <class Index>
void many_statuses(Encoder& e, const RequestSnapshot& requests, int n, const MPI_Status* given,
                   const MPI_Status* used, bool in_status, Index index) {
  if (given == MPI_STATUSES_IGNORE) {
    bool any = false;
    for (int k = 0; k < n && !any; ++k) any = requests.is_wildcard(index(k));
    if (!any || used == MPI_STATUSES_IGNORE) return e.constant(mpi::kConst_MPI_STATUSES_IGNORE);
    e.tag_byte(Tag::kMatchedArray);
    e.varint(static_cast<uint64_t>(n));
    for (int k = 0; k < n; ++k) requests.encode_matched(e, index(k), used[k]);
    return;
  }
  e.begin_array(n);
  for (int k = 0; k < n; ++k) {
    e.begin_element();
    requests.encode_status(e, index(k), used[k], in_status);
    e.end_element();
  }
  e.end_array();
}

}  // namespace refrain::tracer::hand
