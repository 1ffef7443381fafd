#include "mpi_runtime/rank_exchange.h"

#include "real_functions.h"

#include "mpi_runtime/clocks/clock.h"
#include "mpi_runtime/patience.h"
#include "mpi_runtime/rank_comm.h"

namespace refrain::mpi_runtime {

int rank_in(const RankComm& comm) {
  int rank = 0;
  REFRAIN_REAL(PMPI_Comm_rank)(comm.comm, &rank);
  return rank;
}

int size_of(const RankComm& comm) {
  int size = 1;
  REFRAIN_REAL(PMPI_Comm_size)(comm.comm, &size);
  return size;
}

bool gather_words(const RankComm& comm, const uint64_t* words, int count, uint64_t* all) {
  return REFRAIN_REAL(PMPI_Gather)(words, count, MPI_UINT64_T, all, count, MPI_UINT64_T, 0,
                                   comm.comm) == MPI_SUCCESS;
}

#ifndef REFRAIN_SMPI

bool greatest_of_all(const RankComm& comm, uint64_t* values, int count) {
  return patiently([&](MPI_Request* request) {
    return REFRAIN_REAL(PMPI_Iallreduce)(MPI_IN_PLACE, values, count, MPI_UINT64_T, MPI_MAX,
                                         comm.comm, request);
  });
}

// To few ranks straight from rank 0: along a tree each level waits for the one above it, asleep.
bool as_rank_0_says(const RankComm& comm, uint64_t* value) {
  constexpr int kFew = 64, kTag = 7;
  const int count = size_of(comm), mine = rank_in(comm);
  if (count <= kFew && mine != 0) return receive_patiently(comm, value, sizeof *value, 0, kTag);
  if (count <= kFew) {
    bool good = true;
    for (int peer = 1; peer < count; ++peer)
      good = send_patiently(comm, value, sizeof *value, peer, kTag) && good;
    return good;
  }
  return patiently([&](MPI_Request* request) {
    return REFRAIN_REAL(PMPI_Ibcast)(value, 1, MPI_UINT64_T, 0, comm.comm, request);
  });
}

bool wait_for_all(const RankComm& comm) {
  return patiently(
      [&](MPI_Request* request) { return REFRAIN_REAL(PMPI_Ibarrier)(comm.comm, request); });
}

bool send_patiently(const RankComm& comm, const void* bytes, int count, int to, int tag) {
  return patiently([&](MPI_Request* request) {
    return REFRAIN_REAL(PMPI_Isend)(bytes, count, MPI_BYTE, to, tag, comm.comm, request);
  });
}

bool receive_patiently(const RankComm& comm, void* bytes, int count, int from, int tag) {
  return patiently([&](MPI_Request* request) {
    return REFRAIN_REAL(PMPI_Irecv)(bytes, count, MPI_BYTE, from, tag, comm.comm, request);
  });
}

#else

bool send_patiently(const RankComm& comm, const void* bytes, int count, int to, int tag) {
  return REFRAIN_REAL(PMPI_Send)(bytes, count, MPI_BYTE, to, tag, comm.comm) == MPI_SUCCESS;
}

bool receive_patiently(const RankComm& comm, void* bytes, int count, int from, int tag) {
  return REFRAIN_REAL(PMPI_Recv)(bytes, count, MPI_BYTE, from, tag, comm.comm, MPI_STATUS_IGNORE) ==
         MPI_SUCCESS;
}

#endif

namespace {

// In pieces that an int can count.
constexpr uint64_t kPiece = uint64_t{1} << 30;
// What may be there without asking.
constexpr uint64_t kSmall = 64 * 1024;

// `room_for`: where so many bytes go.
template <class RoomFor>
bool receive_all(const RankComm& comm, int from, int tag, bool (*is_there)(size_t),
                 RoomFor room_for) {
  uint64_t n = 0;
  if (!receive_patiently(comm, &n, sizeof n, from, tag)) return false;
  const bool room = is_there(8 * n + kSmall);
  char* const bytes = room ? room_for(n) : nullptr;
  for (uint64_t at = 0; at < n; at += kPiece) {
    const auto piece = static_cast<int>(n - at < kPiece ? n - at : kPiece);
    char nowhere = 0;
    const bool came =
        receive_patiently(comm, room ? bytes + at : &nowhere, room ? piece : 1, from, tag);
    if (room && !came) return false;
  }
  return room;
}

}  // namespace

bool send_bytes(const RankComm& comm, std::string_view bytes, int to, int tag) {
  const uint64_t n = bytes.size();
  if (!send_patiently(comm, &n, sizeof n, to, tag)) return false;
  for (uint64_t at = 0; at < n; at += kPiece) {
    const auto piece = static_cast<int>(n - at < kPiece ? n - at : kPiece);
    if (!send_patiently(comm, bytes.data() + at, piece, to, tag)) return false;
  }
  return true;
}

bool receive_bytes(const RankComm& comm, std::string& bytes, int from, int tag,
                   bool (*is_there)(size_t)) {
  return receive_all(comm, from, tag, is_there, [&](uint64_t n) {
    bytes.resize(n);
    return bytes.data();
  });
}

bool receive_message(const RankComm& comm, Message& message, int from, int tag,
                     bool (*is_there)(size_t)) {
  return receive_all(comm, from, tag, is_there, [&](uint64_t n) {
    message.bytes.reset(new char[n]);
    message.size = n;
    return message.bytes.get();
  });
}

}  // namespace refrain::mpi_runtime
