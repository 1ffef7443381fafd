// What the sources of Spool have in common.
#pragma once

#include <cerrno>
#include <cstdint>

#include "tracer/location.h"

namespace refrain::tracer {

// What we do between two calls of the program changes no errno of its.
class KeepErrno {
 public:
  ~KeepErrno() { errno = saved_; }

 private:
  const int saved_ = errno;
};

// Calls of the location so far.
inline uint64_t calls_of(const Location& l) { return l.spool.calls_before + l.grammar.length(); }

}  // namespace refrain::tracer
