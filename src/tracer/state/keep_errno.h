// Preserves the program's errno while the recorder works.
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
