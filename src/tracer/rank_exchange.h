// What all ranks of the recorder do together, in MPI_Init and MPI_Finalize, on Process::comm.
//
// Laws: who waits sleeps, the longer the longer it has waited (at most kMaxSleepNs, and about an
// eighth of the whole). MPI libraries wait by polling: where ranks share cores, those that wait
// would take the time of the one that works.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "tracer/process.h"

namespace refrain::tracer {

#ifndef REFRAIN_SMPI  // there, ranks take turns
// Each of `values` becomes the greatest that any rank has given. False: MPI failed.
bool greatest_of_all(Process& process, uint64_t* values, int count);
// The same among all of MPI_COMM_WORLD, in MPI_Init, where the program uses it not yet: begins, and
// the ranks may do something else together until they ask for the end. MPI libraries bring both on.
class GreatestOfWorld {
 public:
  GreatestOfWorld(uint64_t* values, int count);  // `values` stays
  bool wait();

 private:
  MPI_Request request_ = MPI_REQUEST_NULL;
  bool began_;
};
// `value` becomes that of rank 0.
bool as_rank_0_says(Process& process, uint64_t* value);
// Returns when all ranks have come here.
bool wait_for_all(Process& process);
#endif

// As MPI_Send and MPI_Recv, of bytes. False: MPI failed.
bool send_patiently(Process& process, const void* bytes, int count, int to, int tag);
bool receive_patiently(Process& process, void* bytes, int count, int from, int tag);

// Any number of bytes. Who has no memory for them, and for what is made of them (some times as
// much), takes them all the same, and gives false.
bool send_bytes(Process& process, std::string_view bytes, int to, int tag);
bool receive_bytes(Process& process, std::string& bytes, int from, int tag);

}  // namespace refrain::tracer
