// PathCheck: compares unwinding by rules with libunwind. For tests.
//
//   REFRAIN_CHECK_PATHS=FILE         every path that is unwound is unwound by both
//   REFRAIN_CHECK_PATHS=every:FILE   and every call's path is unwound, also where it was seen
//   before
//
// Each rank appends a line to the file when it ends, behind a line for each of the first that
// differ:  paths 12 differ 0 wrong 0 by_libunwind 1
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

#include "tracer/paths/frame_walk.h"

namespace refrain::tracer {

class PathCheck {
 public:
  // Null when nobody asks.
  static PathCheck* from_environment();

  bool every() const { return every_; }
  // Null: the rules did not find the path.
  void compare(Process& process, ReturnAddresses& returns, const CallPlace& call,
               const Walk* by_rules);
  // A path was taken for another one that was seen before.
  void found_wrong(uintptr_t address);
  void report() const;

 private:
  PathCheck(std::string file, bool every) : file_(std::move(file)), every_(every) {}
  void write(const char* line) const;

  const std::string file_;
  const bool every_;
  std::atomic<uint64_t> paths_{0}, differ_{0}, wrong_{0}, by_libunwind_{0};
};

}  // namespace refrain::tracer
