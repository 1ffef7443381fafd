#include "tracer/state/complain.h"

#include <cstdio>

#include "tracer/state/process.h"

namespace refrain::tracer {

void complain(const Process& p, const char* what) {
  std::fprintf(stderr, "refrain: rank %d: %s; the program continues\n", p.rank, what);
}

}  // namespace refrain::tracer
