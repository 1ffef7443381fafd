// Tags for replays, equal at both ends of a message. Replays have neither communicators nor MPI's
// matching order, so each pair of communicator and tag has a number, by first use, and consecutive
// messages of a channel have different tags.
//
// Pairs that do not fit in the table are collected in a separate walk, which writes nothing, and
// numbered on disk (with_tags() in skeleton.h); the next walk reads their numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "events/by_rank/external_sort.h"
#include "events/comms.h"

namespace refrain::events {

class Tags {
 public:
  static constexpr uint32_t kAtATime = 1024;  // messages of a channel that are told apart
  static constexpr uint32_t kMost = 1U << 20;

  Tags() = default;
  // Most bytes of the table, and of a sort.
  Tags(std::string folder, size_t table_bytes, size_t sort_bytes)
      : folder_(std::move(folder)), most_(table_bytes / kEntryBytes), sort_bytes_(sort_bytes) {}

  uint32_t of(CommKey comm, int64_t tag, uint64_t number);
  // For messages of collectives.
  uint32_t of_collective(CommKey comm, uint64_t number) { return of(comm, INT64_MIN, number); }

  // Whether so many pairs have room in the table.
  bool have_room(uint64_t pairs) const { return pairs <= most_; }
  // Between these two, what of() returns is of no use; the same uses come again after it.
  void begin_notes();
  base::Status end_notes();
  const base::Status& status() const { return status_; }

 private:
  static constexpr size_t kEntryBytes = 80;
  using Pair = std::pair<CommKey, int64_t>;
  struct Use {
    int64_t tag = 0;
    uint64_t use = 0;  // which one of all that the table does not tell
    CommKey comm = 0;
    bool operator<(const Use& o) const {
      return std::tie(comm, tag, use) < std::tie(o.comm, o.tag, o.use);
    }
  };
  // Sorted by what comes first, the uses of a pair by the first of them.
  struct Numbered {
    uint64_t first = 0, use = 0;
    bool operator<(const Numbered& o) const {
      return std::tie(first, use) < std::tie(o.first, o.use);
    }
  };
  struct Id {
    uint64_t use = 0;
    uint32_t id = 0;
    bool operator<(const Id& o) const { return use < o.use; }
  };
  uint32_t outside(const Pair& pair);
  base::Status number(ExternalSort<Numbered>& numbered);

  std::string folder_;
  size_t most_ = SIZE_MAX, sort_bytes_ = 0;
  std::map<Pair, uint32_t> ids_;
  std::unique_ptr<ExternalSort<Use>> notes_;
  std::unique_ptr<ExternalSort<Id>> read_;
  uint64_t uses_ = 0;
  base::Status status_ = base::Done{};
};

}  // namespace refrain::events
