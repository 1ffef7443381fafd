// A made-up MPI for unit tests: what the headers of this folder declare, without an MPI library.
//
//   constants      those below, and no others
//   communicators  the world (its ranks are all there are), self, and what a test enters
//   datatypes      kInt, and what a test enters
//   messages       none: a rank that is alone agrees with itself
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "mpi_runtime/comm_facts.h"
#include "mpi_runtime/datatype_contents.h"
#include "mpi_runtime/namespace.h"

namespace refrain::mpi_runtime::fake {

inline constexpr uint64_t kNull = 0, kWorld = 1, kSelf = 2, kInt = 3;
inline constexpr int kAnySource = -2, kAnyTag = -3, kProcNull = -4, kRoot = -5, kUndefined = -32766;

struct Status {
  int MPI_SOURCE, MPI_TAG;
};

struct Mpi {
  int rank = 0, size = 1;
  std::map<uint64_t, CommFacts> comms;
  std::map<uint64_t, std::string> names;  // of communicators
  std::map<uint64_t, TypeShape> shapes;
  std::map<uint64_t, TypeContents> contents;
  std::vector<uint64_t> given_back;  // datatypes, in order
  int agreements = 0;                // reductions that were asked for
};
Mpi& mpi();

// As if nothing had happened: a world of so many ranks, which this is one of.
void start(int rank, int size);
// Members by their ranks in the world.
void enter_comm(uint64_t comm, const std::vector<int>& ranks);

}  // namespace refrain::mpi_runtime::fake
