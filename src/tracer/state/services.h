// Services: objects that parts of the recorder use, one of each per rank.
#pragma once

#include <atomic>
#include <cstdint>

#include "mpi_runtime/clocks/clock.h"
#include "tracer/code/loaded_code.h"

namespace refrain::tracer {

class CallTimes;
class PathCheck;
class Spool;

struct Services {
  Clock clock;
  LoadedCode code;
  Spool* spool = nullptr;           // what `sink` is, where it is a file; null: none; never freed
  CallTimes* times = nullptr;       // null: no times of single calls; never freed
  PathCheck* path_check = nullptr;  // null: call paths are not checked; never freed
};

}  // namespace refrain::tracer
