// The interface between the recorder and librefrain-posix.so: one table of functions, found by
// name.
//
// The library is preloaded together with the recorder if `--posix on` is given; without it none of
// these functions is intercepted. Neither library links the other.
#pragma once

#include <cstdint>

#include "format/posix_functions.h"

namespace refrain::tracer {

// What the library asks the recorder. Both are called wherever the program may call an input or
// output function: in signal handlers, in any thread. They leave errno as it is.
struct PosixLink {
  // Whether the function that returns to `caller` was called by the program.
  bool (*counts)(const void* caller);
  uint64_t (*ticks)();
};

struct PosixTable {
  static constexpr uint32_t kVersion = 1;
  static constexpr const char* kSymbol = "refrain_posix_table";

  uint32_t version;
  // Counting begins; before it the library only forwards. `link` must stay.
  void (*begin)(const PosixLink* link);
  // Counts go on in `area`, of kPosixFunctions counters, which must stay mapped until the process
  // ends. What was counted so far is added there.
  void (*use)(format::PosixCounter* area);
  // From now on the library only forwards; threads that are inside may still count one call.
  void (*stop)();
  const format::PosixCounter* (*area)();
};

}  // namespace refrain::tracer
