// RoundCalls: the calls after which the ranks compare their clocks, for `record --clock-interval`
// (mpi_runtime/clocks/clock_rounds.h).
//
//   collective calls that all ranks of the world were in, and that none of them can have left
//   before all had come: MPI_Barrier, and MPI_Allreduce, MPI_Allgather, MPI_Alltoall of something
//
// Such calls come in the same order on all ranks: a rank cannot leave one before the others have
// come to it. So all ranks count alike. With MPI_THREAD_MULTIPLE only calls on MPI_COMM_WORLD
// count, of which there is one at a time.
#pragma once

#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

#include "mpi/call_table.h"

namespace refrain::tracer {

class Process;
struct Location;

class RoundCalls {
 public:
  static bool may_count(mpi::CallId call);
  // Of a call that may, with this terminal of the location's tables.
  bool counts(const Location& location, uint32_t terminal);

 private:
  bool counts(const Process& process, uint32_t terminal, std::string_view signature);

  std::mutex mutex_;
  enum class Counts : uint8_t { kUnknown, kNo, kYes };
  uint32_t first_terminal_ = 0;  // of the tables that the terminals belong to: see table_epochs.h
  std::vector<Counts> by_terminal_;
};

}  // namespace refrain::tracer
