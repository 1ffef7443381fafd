// The hidden fields of a status, which mpi.h declares and MPI_Get_count() reads.
//
// A call of MPI for each status would cost as much as all else that a message log does for a
// receive, and in a rank that runs alone there is no MPI to ask. Where an MPI's fields are not
// known, bytes_if_plain() says nothing and put_status_bytes() does nothing.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <limits>
#include <optional>

#include "mpi_runtime/namespace.h"

namespace refrain::mpi_runtime {

// The bytes received, of a status that is not cancelled. Nothing: MPI has to be asked.
inline std::optional<uint64_t> bytes_if_plain(const MPI_Status& status) {
#if defined(OPEN_MPI)
  constexpr size_t kMost = std::numeric_limits<int>::max();
  if (status._cancelled == 0 && status._ucount <= kMost) return status._ucount;
#elif defined(MPICH_NUMVERSION)
  if (status.count_hi_and_cancelled == 0) return static_cast<uint32_t>(status.count_lo);
#else
  (void)status;
#endif
  return std::nullopt;
}

inline void put_status_bytes(MPI_Status& status, uint64_t bytes, bool cancelled) {
#if defined(OPEN_MPI)
  status._ucount = static_cast<size_t>(bytes);
  status._cancelled = cancelled ? 1 : 0;
#elif defined(MPICH_NUMVERSION)
  status.count_lo = static_cast<int>(static_cast<uint32_t>(bytes));
  status.count_hi_and_cancelled = static_cast<int>(bytes >> 32 << 1) | (cancelled ? 1 : 0);
#else
  (void)status, (void)bytes, (void)cancelled;
#endif
}

}  // namespace refrain::mpi_runtime
