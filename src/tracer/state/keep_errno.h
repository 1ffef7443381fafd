// What we do between two calls of the program changes no errno of its.
#pragma once

#include <cerrno>

namespace refrain::tracer {

class KeepErrno {
 public:
  KeepErrno() = default;
  ~KeepErrno() { errno = saved_; }
  KeepErrno(const KeepErrno&) = delete;
  KeepErrno& operator=(const KeepErrno&) = delete;

 private:
  const int saved_ = errno;
};

}  // namespace refrain::tracer
