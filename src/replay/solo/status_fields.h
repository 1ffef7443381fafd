// The hidden fields of a status, which mpi.h declares and MPI_Get_count() reads.
#pragma once

#include <mpi.h>

#include <cstdint>

namespace refrain::replay::solo {

inline void put_status_bytes(MPI_Status& status, uint64_t bytes, bool cancelled) {
#if defined(OPEN_MPI)
  status._ucount = static_cast<size_t>(bytes);
  status._cancelled = cancelled ? 1 : 0;
#elif defined(MPICH_NUMVERSION)
  status.count_lo = static_cast<int>(bytes & 0x7fffffff);
  status.count_hi_and_cancelled = static_cast<int>(bytes >> 31 << 1) | (cancelled ? 1 : 0);
#else
  (void)status, (void)bytes, (void)cancelled;
#endif
}

}  // namespace refrain::replay::solo
