// The blackboard of all ranks of refrain/shared_blackboard.h, over Mailboxes: who owns which type,
// what is on its way, and when nothing is left anywhere.
//
// Entries travel as a head (type, bytes) and their payload, one behind the other in the ring of
// each pair of ranks. Only the thread that drives the board touches the mailboxes; what operations
// submit waits in `outgoing_` until that thread comes by.
//
// The end is found as Mattern's four-counter method does: ranks add up how many entries they have
// sent and taken, each at a moment at which it has nothing to do. When two sums in a row are equal,
// and as many were taken as sent, nobody has done anything in between.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "blackboard/mailboxes.h"
#include "refrain/blackboard.h"
#include "refrain/shared_blackboard.h"

namespace refrain::blackboard {

class SharedBoard {
 public:
  // `local`: a board without a bound, which the shared one frees.
  SharedBoard(Mailboxes& mailboxes, refrain_blackboard* local, int workers, size_t most_bytes);
  ~SharedBoard();
  SharedBoard(const SharedBoard&) = delete;
  SharedBoard& operator=(const SharedBoard&) = delete;

  int owner(refrain_type type) const;
  int give(refrain_type type, int rank);
  int add(const char* name, const refrain_type* sensitivities, int count,
          refrain_operation operation, void* context);
  int submit(EntryRef entry);
  int progress();
  int wait();
  refrain_blackboard* local() { return local_; }

 private:
  struct Head {
    uint64_t type, bytes;
  };
  // What is on its way to a rank: entries behind each other, the first of them sent in part.
  struct Outgoing {
    std::vector<EntryRef> entries;
    size_t first = 0, sent = 0;  // entries that are gone, and bytes of the next one
  };
  // What has come of a rank: a head, and then its entry, in parts.
  struct Incoming {
    Head head{};
    size_t head_bytes = 0, bytes = 0;
    EntryRef entry;
  };

  bool is_driver() const { return std::this_thread::get_id() == driver_; }
  uint64_t bytes_here() const;
  bool is_full() const;
  bool is_too_full_to_take() const;
  int send(bool* moved);
  int send_to(int rank, Outgoing& out, bool* moved);
  int take(bool* moved);
  int take_from(int rank, Incoming& in, bool* moved);
  int take_head(int rank, Incoming& in, bool* moved);
  int step(bool* moved);
  bool has_nothing_to_do();
  int broken();

  Mailboxes& mailboxes_;
  refrain_blackboard* const local_;
  const bool has_workers_;
  const size_t most_bytes_;
  const std::thread::id driver_ = std::this_thread::get_id();
  std::atomic<bool> is_broken_{false};
  bool is_in_job_ = false;  // the driver runs jobs itself
  int since_step_ = 0;      // entries that the driver submitted
  bool has_more_ = false;   // in a ring, left there because this rank was full

  std::unordered_map<refrain_type, int> owners_;
  std::unordered_map<refrain_type, std::vector<int>> readers_;  // ranks with sources, ascending

  std::mutex lock_;                         // of new_
  std::vector<std::vector<EntryRef>> new_;  // by rank; submitted and not yet seen by the driver
  std::atomic<uint64_t> new_count_{0};
  std::vector<Outgoing> outgoing_;  // by rank
  std::vector<Incoming> incoming_;  // by rank
  std::atomic<uint64_t> outgoing_bytes_{0};
  std::atomic<int64_t> sent_{0};  // entries that were given to the driver for other ranks
  int64_t taken_ = 0;             // of other ranks, submitted here
};

}  // namespace refrain::blackboard
