// Communication among the ranks of a communicator of the recorder, in MPI_Init and MPI_Finalize.
//
// Laws: a rank that waits sleeps, longer the longer it has waited (next_sleep_ns). MPI libraries
// wait by polling: if ranks share cores, waiting ranks would take the core from the rank that
// works.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "mpi_runtime/namespace.h"

namespace refrain::mpi_runtime {

struct RankComm;

int rank_in(const RankComm& comm);
int size_of(const RankComm& comm);

#ifndef REFRAIN_SMPI  // there, ranks take turns
// Each of `values` becomes the greatest that any rank has given. False: MPI failed.
bool greatest_of_all(const RankComm& comm, uint64_t* values, int count);
// `value` becomes that of rank 0.
bool as_rank_0_says(const RankComm& comm, uint64_t* value);
// Returns when all ranks have come here.
bool wait_for_all(const RankComm& comm);
#endif

// Rank 0 gets the words of all, by rank; the others none. False: MPI failed.
bool gather_words(const RankComm& comm, const uint64_t* words, int count, uint64_t* all);

// As MPI_Send and MPI_Recv, of bytes. False: MPI failed.
bool send_patiently(const RankComm& comm, const void* bytes, int count, int to, int tag);
bool receive_patiently(const RankComm& comm, void* bytes, int count, int from, int tag);

// Any number of bytes.
bool send_bytes(const RankComm& comm, std::string_view bytes, int to, int tag);
// Who has no memory for them, and for what is made of them (some times as much), takes them all the
// same, and gives false. `is_there`: whether there is memory for so many bytes.
bool receive_bytes(const RankComm& comm, std::string& bytes, int from, int tag,
                   bool (*is_there)(size_t));
// The same in memory that nobody fills with zeros first: for what may be very long.
struct Message {
  std::unique_ptr<char[]> bytes;
  size_t size = 0;
  std::string_view view() const { return {bytes.get(), size}; }
};
bool receive_message(const RankComm& comm, Message& message, int from, int tag,
                     bool (*is_there)(size_t));

}  // namespace refrain::mpi_runtime
