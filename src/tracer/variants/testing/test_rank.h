// A rank for unit tests: a Process without an MPI library.
#pragma once

#include <memory>

#include "mpi_runtime/testing/fake_mpi.h"
#include "tracer/state/location.h"
#include "tracer/state/process.h"

namespace refrain::tracer::testing {

// While it lives it is the calling process, of a world of the fake MPI. What it makes for good
// stays.
class TestRank {
 public:
  explicit TestRank(int rank = 0, int size = 1);
  ~TestRank();
  TestRank(const TestRank&) = delete;
  TestRank& operator=(const TestRank&) = delete;

  Process* operator->() { return process_; }
  Process& operator*() { return *process_; }
  // A thread of it.
  Location& location() { return *location_; }

 private:
  Process* process_;  // never freed: as in a recorder
  Location* location_;
};

}  // namespace refrain::tracer::testing
