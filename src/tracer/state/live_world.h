// The job with an analyser that this rank is part of (`record --live`), as far as the recorder's
// parts must know of it. Plain data: written once, in MPI_Init, by wrap/world.cc.
#pragma once

#include <string>

namespace refrain::tracer {

struct LiveWorld {
  bool is_on =
      false;         // there is an analyser, and MPI_COMM_WORLD stands for the program's own ranks
  std::string name;  // of the program, for the analyser
  std::string folder;             // in which the analyser looks for jobs; absolute
  void (*is_ending)() = nullptr;  // tells the analysers that MPI_Finalize has begun
};

inline LiveWorld& live_world() {
  static auto* const one = new LiveWorld;
  return *one;
}

}  // namespace refrain::tracer
