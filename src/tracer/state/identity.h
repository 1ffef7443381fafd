// Identity: the rank, its run, and its options.
//
// Laws: set by one thread, before or inside of MPI_Init and MPI_Finalize; else read only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "format/clusters/cluster_request.h"
#include "format/trace_data.h"

namespace refrain::tracer {

struct Options {
  std::string output;  // absolute path of the trace
  std::string program, command;
  std::string messages;           // which ranks are logged, in words; empty: none
  std::string working_directory;  // when recording began; empty: not known
  std::string filter;             // what is left out, in words; empty: nothing
  bool quiet = false;
  bool totals = true;               // what the file has for each rank
  bool gaps = false;                // the time before each call is kept
  bool has_clusters = false;        // some ranks stand for all in the trace
  format::ClusterRequest clusters;  // which, then
  std::string full_copy;            // path of a trace in which each stands for itself; empty: none
  uint32_t call_path_depth = 8;     // 0: no call sites at all
  size_t memory_bytes = SIZE_MAX;   // of all that recording holds
  size_t grammar_bytes = SIZE_MAX;  // of one location
};

struct Identity {
  Options options;
  int rank = 0, size = 1;         // in the world
  bool initialized = false;       // these are known
  bool threads_anywhere = false;  // MPI_THREAD_MULTIPLE was granted to some rank of the world
  int pid = 0;
  uint64_t run = 0;         // a number of this run, the same on all ranks; 0: none
  uint64_t init_ticks = 0;  // begin of MPI_Init
  uint64_t end_ticks = 0;   // the program is in MPI_Finalize; 0: not yet
  format::RankPlace place;  // see cores.h
  uint64_t switches = 0;    // until MPI_Init; then, once the run has ended, during it
};

}  // namespace refrain::tracer
