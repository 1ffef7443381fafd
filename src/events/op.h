// Op: the communication of one call, decoded once for each signature of a rank.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "events/comms.h"
#include "events/flat_map.h"
#include "events/signature_source.h"
#include "events/topologies.h"
#include "mpi/call_meaning.h"
#include "reader/source_paths.h"
#include "refrain/calls.h"

namespace refrain::events {

using PlaceId = uint32_t;  // a call path together with the MPI function at its end
inline constexpr int64_t kAny = INT64_MIN;
inline constexpr Rank kNobody = -2;  // MPI_PROC_NULL, a process of another world, not known

enum class Action : uint8_t {
  kNothing,       // nobody waits for it, and it waits for nobody
  kSend,          // with Op::send
  kReceive,       // with Op::receive
  kSendReceive,   // both
  kProbe,         // looks at the next message
  kMatchedProbe,  // takes it out of the queue
  kMatchedReceive,
  kCollective,
  kOtherCollective,  // neighbourhoods, files, communicators of groups: with Op::other
  kStart,            // starts persistent requests
  kReady,            // a part of a partitioned message
  kComplete,         // completes requests, or waits for them in vain
  kFree,             // of a request
  kCancel,           // the same
  kWindowEpoch,
};

// One end of a message.
struct MessageEnd {
  Rank peer = kNobody;  // world rank; kAny: any
  int64_t tag = 0;      // kAny: any
  CommKey comm = kNoComm;
  bool is_buffered = false;
  bool is_synchronous = false;  // a send that does not complete before its receive is posted
  uint64_t bytes = 0;           // of a send
  bool is_known() const { return peer != kAny && tag != kAny; }
};

// A request that a call is about. `message` is known where the call says which message it was.
struct Op;
struct RequestUse {
  SignatureId request = 0;
  bool has_message = false;
  int64_t source = 0, tag = 0;  // in the ranks of the request's communicator
  Op* maker = nullptr;          // what made it; found when it is first asked for
};

// What a test asked for in vain: there are many tests of many requests, so they are not kept again.
class RequestsAsked {
 public:
  RequestsAsked() = default;
  // The parameter of a signature that stays in place: a request or an array of them.
  explicit RequestsAsked(const Value& value) : value_(&value) {}
  bool empty() const {
    bool none = true;
    each_run([&](const Value&) { none = false; });
    return none;
  }
  // visit(RequestUse&) for each request, in order.
  template <class Visit>
  void for_each(Visit visit) const {
    each_run([&](const Value& run) {
      for (uint64_t i = 0; i < run.repeat; ++i) {
        RequestUse use;
        use.request = run.request_of_element(i);
        visit(use);
      }
    });
  }

 private:
  template <class Visit>
  void each_run(Visit visit) const {
    if (value_ == nullptr) return;
    if (value_->kind == ValueKind::kRequest) visit(*value_);
    for (const Value& item : value_->items)
      if (item.kind == ValueKind::kRequest) visit(item);
  }
  const Value* value_ = nullptr;
};

enum class CollectiveKind : uint8_t {
  kNxN,
  kBarrier,
  kToRoot,
  kFromRoot,
  kScan,
  kInit,
  kFinalize,
  kWindow,
  kFence,
  kNeighbours,
  kFile
};
enum class Role : uint8_t { kAll, kRoot, kLeaf, kNone };

// What tells the collectives of Action::kOtherCollective apart.
enum class OtherCall : uint8_t {
  kNone,
  kOfComm,  // in the order of its communicator
  kOfMade,  // makes one from its members alone
  // Of files, in the order of each file.
  kOpen,
  kFile,
  kOrdered,       // a rank's turn comes after those below it
  kSplitBegin,    // begins what the next kSplitEnd ends
  kOrderedBegin,  // the same, kOrdered
  kSplitEnd
};

enum class EpochCall : uint8_t { kNone, kPost, kStart, kComplete, kWait, kLock, kUnlock, kAccess };

// What is asked at every call comes first: with thousands of ranks each op is a miss of the cache.
struct alignas(64) Op {
  Action action = Action::kNothing;
  bool makes_request = false;  // work is done when that completes
  bool is_persistent = false;  // ... and begins when that is started
  bool is_partitioned = false;
  bool makes_group = false;
  bool is_poll = false;    // asked, and found nothing
  bool has_order = false;  // waits for one certain message: it could have asked for another first
  CollectiveKind collective = CollectiveKind::kNxN;
  Role role = Role::kAll;
  EpochCall epoch = EpochCall::kNone;
  OtherCall other = OtherCall::kNone;
  CallId call = 0;
  PlaceId place = 0;
  uint32_t number =
      0;  // of all ops of its decoder, from 0: whoever keeps more of it keeps it by that
  MessageEnd send, receive;  // of a probe that found nothing: what it asked for
  const Signature* signature = nullptr;
  std::vector<RequestUse> requests;  // started, completed or freed
  uint64_t partitions = 1;
  int64_t message_object = -1;  // of matched probes and receives
  RequestsAsked unsuccessful;   // still open after a test
  // collectives
  CommView comm;
  int64_t file = -1;                       // the N of file#N; of MPI_File_open: at its end
  std::unique_ptr<TopologyCall> topology;  // that it makes
  // one-sided
  int64_t window = 0;          // the N of win#N
  std::vector<Rank> partners;  // world ranks: of the group, or the target
  bool is_exclusive = false;   // lock
  bool all_targets = false;    // lock_all, flush_all

  // Whether its call, or each start of the request that it makes, sends or posts a receive.
  bool sends() const { return action == Action::kSend || action == Action::kSendReceive; }
  bool receives() const { return action == Action::kReceive || action == Action::kSendReceive; }
};

// The ops of one rank. Uses source, comms and places while it lives.
class Decoder {
 public:
  class Places {
   public:
    struct Place {
      DefinitionId path = kNoDefinition;
      CallId call = 0;
    };
    Places() = default;
    // `paths`: which call paths are one; outlives this object. nullptr: none.
    explicit Places(const reader::SourcePaths* paths) : paths_(paths) {}
    PlaceId id(DefinitionId path, CallId call);
    const Place& place(PlaceId id) const { return all_[id]; }
    size_t size() const { return all_.size(); }

   private:
    const reader::SourcePaths* paths_ = nullptr;
    std::unordered_map<uint64_t, PlaceId> ids_;
    std::vector<Place> all_;
  };

  Decoder(SignatureSource& source, CommTable& comms, Places& places)
      : source_(source), comms_(comms), places_(places) {}
  // Of a trace that is there; the reader outlives it.
  Decoder(RankReader& reader, CommTable& comms, Places& places)
      : of_reader_(std::in_place, reader), source_(*of_reader_), comms_(comms), places_(places) {}
  Decoder(const Decoder&) = delete;

  // Stays in place as long as the decoder.
  Op& op(const Signature& signature);
  // Of the call that made a request; nullptr where there is no such call, or it has not come.
  Op* maker(RequestUse& use);
  // All that were decoded, in no order.
  const std::vector<std::unique_ptr<Op>>& ops() const { return ops_; }
  // Notes what a call that makes a group says; must see them in order.
  void follow_groups(const Signature& signature);
  // Before another walk of the calls.
  void forget_groups() { groups_.clear(); }
  // World ranks of a group that a PSCW epoch names; empty: not known.
  const std::vector<Rank>& group(int64_t id) const;

 private:
  void decode_message(const Signature& s, const mpi::CallMeaning& meaning, Op& op);
  void decode_completion(const Signature& s, const mpi::CallMeaning& meaning, Op& op);
  bool decode_collective(const Signature& s, const mpi::CallMeaning& meaning, Op& op);
  bool decode_other(const Signature& s, const mpi::CallMeaning& meaning, Op& op);
  void decode_file(const Signature& s, const mpi::CallMeaning& meaning, Op& op);
  bool decode_window(const Signature& s, const mpi::CallMeaning& meaning, Op& op);
  CommView comm_of(const Signature& s, std::string_view parameter);
  MessageEnd end_of(const Signature& s, std::string_view peer, std::string_view tag);
  void take_status(const Signature& s, MessageEnd& end);
  uint64_t bytes_of(const Signature& s, std::string_view count, std::string_view type) const;
  std::vector<Rank> listed(const std::vector<Rank>& from, const Value* list, bool keep) const;

  std::optional<TraceSignatures> of_reader_;
  SignatureSource& source_;
  CommTable& comms_;
  Places& places_;
  FlatMap<SignatureId, Op*> by_signature_;
  std::vector<std::unique_ptr<Op>> ops_;
  std::unordered_map<int64_t, std::vector<Rank>> groups_;
};

}  // namespace refrain::events
