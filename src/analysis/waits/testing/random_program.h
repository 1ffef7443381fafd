// Random valid MPI programs with possible times, and the correct result: which call sent, posted
// and completed each message, and which ranks took part in each collective.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "analysis/waits/testing/test_program.h"
#include "analysis/waits/vocabulary.h"

namespace refrain::analysis::waits {

inline constexpr size_t kNever = SIZE_MAX;

struct TrueMessage {
  Rank sender = 0, receiver = 0;
  size_t send_call = kNever, post_call = kNever, done_call = kNever;  // numbers on their ranks
  int64_t tag = 0;
  int comm = 0;
  bool is_buffered = false, needs_receiver = false, is_synchronous = false;
  uint64_t bytes = 0;
};

struct TrueCollective {
  CollectiveKind kind = CollectiveKind::kNxN;
  struct Entry {
    Rank rank = 0;
    size_t call = 0;
    int64_t position = 0;
    Role role = Role::kAll;
  };
  std::vector<Entry> entries;
  bool is_blocking = true;
  std::vector<std::vector<Rank>> sources;  // of neighbourhoods, by rank: whom it hears from
  // Of files: the calls that it is over with, whether they wait in it, and each after lower ranks.
  std::vector<std::pair<Rank, size_t>> leavers;
  bool in_order = false;
  bool binds = true;  // the library makes all wait for the last one
};

struct TrueLock {
  Rank origin = 0, target = 0;
  bool is_exclusive = false;
  size_t lock_call = kNever, unlock_call = kNever;
};

// One end of an epoch of post, start, complete and wait.
struct TrueEpoch {
  Rank target = 0, origin = 0;
  size_t post = 0, start = 0, complete = 0, wait = 0;
};

struct TrueCall {
  uint64_t begin = 0, end = 0;
  CallId call = 0;
  Place site = 0;
  std::vector<size_t> sends, receives;  // messages whose ends it completes
  std::vector<size_t> unsuccessful;     // ... that it waits for in vain
  size_t probed = kNever;
  std::vector<size_t> collectives;  // that it completes
};

class RandomProgram {
 public:
  // `cancels`: some receives are given up before a message came.
  RandomProgram(uint32_t seed, int ranks, int steps, bool cancels = false);

  TestProgram program;
  std::vector<std::vector<TrueCall>> calls;  // by rank
  std::vector<TrueMessage> messages;
  std::vector<TrueCollective> collectives;
  std::vector<TrueLock> locks;
  std::vector<TrueEpoch> epochs;

 private:
  struct Comm {
    std::vector<Rank> left, right;  // right: empty, or the other side
    uint32_t left_id = 0, right_id = 0;
    bool is_inter() const { return !right.empty(); }
  };
  struct Request {
    uint32_t id = 0;
    std::string pool;
    uint32_t number = 0;
    size_t send = kNever, receive = kNever, collective = kNever;
    bool is_wild = false, is_persistent = false;
  };
  struct Posted {  // a receive without a message yet
    size_t message = kNever;
    Rank source = kAny;
    int64_t tag = kAny;
    int comm = 0;
  };

  uint64_t pick(uint64_t below) { return random_() % below; }
  uint64_t next_begin(Rank r) { return clock_[static_cast<size_t>(r)] + 1 + pick(900); }
  // Adds a call; `least`: it cannot end before.
  TrueCall& call(Rank r, ShapeWriter shape, uint64_t begin, uint64_t least);
  ShapeWriter begin_shape(const char* name);
  uint32_t side(const Comm& comm, Rank r) const;
  int64_t number(const Comm& comm, Rank me, Rank peer) const;
  size_t count(Rank r) const { return calls[static_cast<size_t>(r)].size(); }
  uint64_t begin_of(Rank r, size_t c) const { return calls[static_cast<size_t>(r)][c].begin; }
  uint64_t sent_at(size_t m) const { return begin_of(messages[m].sender, messages[m].send_call); }

  ShapeWriter message_shape(const char* name, const TrueMessage& m, bool sends, bool any_source,
                            bool any_tag);
  // The call that makes a request of this shape; the request gets the next name of its pool.
  TrueCall& call_for(Rank r, Request& request, ShapeWriter shape, uint64_t begin);
  void send_step();
  void receive_step();
  void post_step();
  void complete_step();
  void cancel_step();
  void collective_step();
  void fence_step();
  // random_others.cc
  void make_together(CollectiveKind kind, const std::function<ShapeWriter(Rank)>& shape_of);
  void make_topologies();
  void make_file();
  void neighbour_step();
  void file_step();
  void split_step();
  void epoch_step();
  void lock_step();
  size_t new_message(Rank from, Rank to, int comm, int64_t tag, size_t send_call);
  bool is_ready(const Request& q) const;
  uint64_t last_needed(const TrueCollective& coll, Rank me) const;
  void finish(Rank r, std::vector<size_t> which, int form);

  std::mt19937 random_;
  int ranks_;
  std::vector<uint64_t> clock_;
  std::vector<Comm> comms_;
  std::vector<Place> sites_;
  Place site_ = 0;                           // of the last shape
  uint32_t last_id_ = 0;                     // the last signature
  std::vector<size_t> in_flight_;            // messages that nobody has posted a receive for
  std::vector<std::vector<Posted>> posted_;  // by rank
  std::vector<std::vector<Request>> open_;   // by rank
  std::map<std::pair<Rank, std::string>, std::vector<bool>> pools_;
  uint32_t window_ = 0, file_ = 0;
  struct Neighbourhood {
    uint32_t comm = 0;
    std::vector<std::vector<Rank>> sources;  // by rank
  };
  std::vector<Neighbourhood> neighbourhoods_;
  std::vector<uint32_t> groups_;  // of one rank each
};

}  // namespace refrain::analysis::waits
