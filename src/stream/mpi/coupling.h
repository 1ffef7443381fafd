// What a process knows of its job once the coupling has started. For the functions of
// refrain/coupling.h.
#pragma once

#include <mpi.h>

#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "refrain/coupling.h"
#include "stream/mpi/transport.h"
#include "stream/partitions.h"

struct refrain_map {
  std::vector<int> ranks;
};

namespace refrain::stream {

struct Coupling {
  MPI_Comm universe = MPI_COMM_NULL;   // of all processes; messages of streams
  MPI_Comm maps = MPI_COMM_NULL;       // of all; messages of pivots, apart from those of streams
  MPI_Comm partition = MPI_COMM_NULL;  // of the own partition
  int rank = 0;
  int own_partition = 0;
  int most_tag = 0;
  std::vector<Partition> partitions;
  std::vector<refrain_partition> descriptions;  // point into partitions
  std::unique_ptr<MpiTransport> transport;
  std::unordered_map<int, int> streams_with;  // by rank: how many were opened
  std::unordered_set<refrain_stream*> open_streams;
};

// Null before the start and after MPI_Finalize.
Coupling* coupling();

// Notes the text of a failure; returns the code.
int fail(int code, std::string text);
// The same when an MPI function returned an error.
int fail_mpi(int error, const char* function);

// Closes the streams that the program left open, and frees everything. Before MPI_Finalize.
void end_coupling();
void abandon_streams(Coupling& job);

}  // namespace refrain::stream
