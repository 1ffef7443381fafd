// The partitions of a job with an analyser: the ranks of each program, and those of the analyser.
// Recorders and analysers find them together, right after MPI_Init. The idea of splitting the
// world by program at MPI_Init is that of the online-coupling paper (§III, virtualisation).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpi_runtime/namespace.h"

namespace refrain::mpi_runtime {

// What a rank says of itself.
struct LiveRole {
  bool is_analyser = false;
  std::string name;    // of a program: ranks that say the same have one world; of an analyser: any
  std::string folder;  // of an analyser: where jobs tell of themselves
};

struct LivePartitions {
  int rank = -1;               // of this process in the whole job
  std::vector<int> analysers;  // ranks of the whole job, ascending
  std::vector<int> mine;       // the same of this program, or of analysers of this name
  int program_count = 0;       // partitions that are no analyser's
  int appnum = -1;             // MPI_APPNUM as it is without other partitions; -1: MPI has none
  std::string folder;          // what the first analyser said
  bool are_coupled() const { return !analysers.empty() && program_count > 0; }
};

// All of MPI_COMM_WORLD must come. False: MPI failed.
bool agree_on_partitions(const LiveRole& role, LivePartitions* found);

// Tags of empty messages on the real MPI_COMM_WORLD, by which the first rank of a program says to
// each analyser that it has begun to end (its record is merged next), and then that it ends.
inline constexpr int kProgramEndsTag = 0, kProgramIsEndingTag = 1;

}  // namespace refrain::mpi_runtime
