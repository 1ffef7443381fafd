#include "tracer/built_with.h"

#include <mpi.h>

#include <atomic>
#include <cstring>

#include "real_functions.h"

namespace refrain::tracer {

bool is_built_with_this() {
  enum { kNotAsked, kYes, kNo };
  static std::atomic<int> answer{kNotAsked};
  int known = answer.load(std::memory_order_relaxed);
  if (known == kNotAsked) {
    // The library may be newer than mpi.h and have more to say.
    constexpr int kRoom = 16384;
    static_assert(kRoom >= 2 * MPI_MAX_LIBRARY_VERSION_STRING);
    char version[kRoom] = "";
    int length = 0;
    REFRAIN_REAL(PMPI_Get_library_version)(version, &length);
    known = std::strstr(version, kBuiltWithVersion) != nullptr ? kYes : kNo;
    answer.store(known, std::memory_order_relaxed);
  }
  return known == kYes;
}

}  // namespace refrain::tracer
