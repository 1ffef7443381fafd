// Mailboxes of a shared board in MPI windows: one ring of bytes for each pair of ranks, at the rank
// that reads it.
//
// The window of a rank has, one behind the other: a bell, that every writer counts up; `tails`, how
// many bytes each rank has put into its ring here; `heads`, how many bytes of the ring that this
// rank writes to each other one have been taken; and the rings. Counters are changed by others with
// MPI_Accumulate and read with MPI_Fetch_and_op, so they are never seen in part. Bytes are put and
// complete at the reader (MPI_Win_flush) before the counter that tells of them is changed.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "blackboard/mailboxes.h"

namespace refrain::blackboard {

class Rings : public Mailboxes {
 public:
  Rings() = default;
  ~Rings() override = default;
  Rings(const Rings&) = delete;
  Rings& operator=(const Rings&) = delete;

  // Collective. False: MPI failed here or somewhere else.
  bool open(MPI_Comm comm);
  // Collective: nobody writes any more.
  void close();

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int64_t write(int to, const char* data, size_t bytes) override;
  bool has_news() override;
  int64_t read(int from, char* data, size_t capacity) override;
  bool begin_sum(const Sums& own) override;
  int test_sum(Sums* totals) override;
  void pause(int round) override;

 private:
  MPI_Aint place_of_tail(int rank) const;
  MPI_Aint place_of_head(int rank) const;
  MPI_Aint place_of_ring(int rank) const;
  bool open_window();
  bool look(MPI_Aint place, uint64_t* value);
  bool tell(int rank, MPI_Aint place, uint64_t value, MPI_Op op);
  bool put(int to, uint64_t at, const char* data, size_t bytes);

  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Win window_ = MPI_WIN_NULL;
  char* memory_ = nullptr;
  int rank_ = 0, size_ = 0;
  size_t ring_bytes_ = 0;
  uint64_t bell_ = 0;
  // By rank: of the rings that this one writes, and of those that it reads.
  std::vector<uint64_t> written_, taken_by_others_, come_, read_;
  Sums own_{}, totals_{};
  MPI_Request sum_ = MPI_REQUEST_NULL;
};

}  // namespace refrain::blackboard
