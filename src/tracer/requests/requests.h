// Live requests: the call that created each request, and the result of its completion.
//
// Laws: every operation costs the same however many requests are outstanding.
//
// A request is known by the terminal of the call that created it; among the requests of one
// signature the position in a pool tells them apart (Pilgrim 3.4.3). MPI libraries return one
// shared handle for several sends that complete at once, so a handle value may belong to several
// requests. They are kept in a chain in order of creation, and distinguished by the address of the
// program's variable if possible. An index by variable is kept for such shared handles only. A
// request that a running completion call holds is *claimed* and not in its chain (unless it is
// alone in it), so finding the next one needs no search.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "tracer/requests/request_array.h"
#include "tracer/tables/id_pool.h"
#include "tracer/tables/key_index.h"

namespace refrain::tracer {

struct RequestTraits {
  bool persistent = false;
  bool is_receive = false;
  int source = 0;  // as posted, for receives
  int tag = 0;
  bool partitioned = false;
  bool wildcard = false;
  bool generalized = false;  // its status is what the program's own callback says
};

struct RequestEntry {
  // Bits of `state`.
  static constexpr uint8_t kLive = 1;
  static constexpr uint8_t kClaimed = 2;   // a completion call under way holds it
  static constexpr uint8_t kLinked = 4;    // in its chain
  static constexpr uint8_t kIndexed = 8;   // in the index by variable: it was in a chain of several
  static constexpr uint8_t kSpecial = 16;  // persistent, or with a wildcard
  static constexpr uint8_t kMessage = 32;  // its status speaks of a message
  static constexpr uint8_t kKept = 64;     // its place belongs to a memo: see RequestTable::keep()
  static constexpr uint8_t kListed = 128;  // it stands in a RequestArray

  uint64_t key = 0;
  const void* variable = nullptr;
  uint32_t terminal = 0;
  uint32_t pool = 0;      // index of the base signature
  uint32_t position = 0;  // in that pool
  uint32_t index = 0;     // of this entry
  // The chain of unclaimed entries with the same key, in order; kNone at the ends.
  uint32_t next = UINT32_MAX, previous = UINT32_MAX;
  uint32_t tail = 0;  // of the chain that this entry heads
  uint8_t state = 0;
  bool active = false;
  uint16_t lane = 0;  // number of the table: see request_lanes.h
  RequestTraits traits;

  bool is(uint8_t bits) const { return (state & bits) != 0; }
};

// Positions of one signature's requests: the lowest that is free. The first 64 are bits of a word.
class PositionPool {
 public:
  uint32_t next() {
    return free_ != 0 ? static_cast<uint32_t>(std::countr_zero(free_)) : 64 + more_.next();
  }
  uint32_t take() {
    if (free_ == 0) [[unlikely]]
      return 64 + more_.take();
    const auto position = static_cast<uint32_t>(std::countr_zero(free_));
    free_ &= free_ - 1;
    return position;
  }
  void give_back(uint32_t position) {
    if (position >= 64) [[unlikely]]
      return more_.give_back(position - 64);
    free_ |= uint64_t{1} << position;
  }
  bool in_use() const { return ~free_ != 0 || more_.any(); }

 private:
  uint64_t free_ = ~uint64_t{0};
  IdPool more_;
};

class RequestTable {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  explicit RequestTable(uint16_t lane = 0) : lane_(lane) {}
  ~RequestTable();
  RequestTable(const RequestTable&) = delete;
  RequestTable& operator=(const RequestTable&) = delete;

  uint32_t take_position(uint32_t pool);
  // Returns the entry's index.
  uint32_t add(const RequestEntry& entry);
  // A place for the request of a call that is made again and again, with all that is the same each
  // time: one signature and one position have one request at a time.
  RequestEntry* keep(const RequestEntry& entry);
  // The same for a place that keep() has given. False, and nothing changed: it is in use.
  bool keep_again(RequestEntry& place, const RequestEntry& entry);
  // There is no such call any more: the place is for any request.
  void unkeep(RequestEntry& place);
  // The request of such a call is there: false when its pool would give another position.
  bool add_again(RequestEntry& e, uint64_t key, const void* variable) {
    PositionPool& pool = pools_[e.pool];
    if (pool.next() != e.position || e.is(RequestEntry::kLive)) return false;
    pool.take();
    e.key = key;
    e.variable = variable;
    e.state |= RequestEntry::kLive;
    link_last(e);
    return true;
  }
  // The request that `key`, read from `variable`, stands for: among those that share the handle
  // value and are not claimed, the one that was stored in that variable, else the oldest. kNone
  // when unknown.
  uint32_t find(uint64_t key, const void* variable) const {
    const uint32_t head = heads_.find(key);
    if (head == KeyIndex::kMissing) return kNone;
    const RequestEntry& first = at(head);
    if (!first.is(RequestEntry::kIndexed)) return first.is(RequestEntry::kClaimed) ? kNone : head;
    return find_in_chain(head, key, variable);
  }
  // The same, and claims it. Null when unknown.
  RequestEntry* find_and_claim(uint64_t key, const void* variable) {
    const uint32_t head = heads_.find(key);
    if (head == KeyIndex::kMissing) return nullptr;
    RequestEntry& first = at(head);
    if (first.is(RequestEntry::kIndexed | RequestEntry::kClaimed)) [[unlikely]]
      return claim_in_chain(head, key, variable);
    first.state |= RequestEntry::kClaimed;
    return &first;
  }
  // Stays where it is for ever.
  RequestEntry& at(uint32_t index) { return blocks_[index / kBlock][index % kBlock]; }
  const RequestEntry& at(uint32_t index) const { return blocks_[index / kBlock][index % kBlock]; }
  void remove(RequestEntry& e) {
    if (e.is(RequestEntry::kIndexed | RequestEntry::kListed)) [[unlikely]]
      return remove_shared(e);
    heads_.erase(e.key);
    free_place(e);
  }
  // Between them find() passes the entry by. What is not over goes back to the front of its chain:
  // several are given back in reverse order.
  void claim(RequestEntry& e) {
    e.state |= RequestEntry::kClaimed;
    // The common case, a handle of its own, stays where it is: its end is near.
    if (!alone(e)) unlink(e);
  }
  void give_back(RequestEntry& e) {
    e.state &= static_cast<uint8_t>(~RequestEntry::kClaimed);
    if (!e.is(RequestEntry::kLinked)) link_first(e);
  }
  // A request that nobody claims has another handle from now on.
  void rename(RequestEntry& e, uint64_t key);
  // By pool: whether some request has a position in it, or a memo's place would.
  std::vector<bool> pools_in_use() const;
  // Claims whose calls were left by a jump.
  void give_back_all();

  // ---- long arrays that are polled (request_array.h) ----
  // The one at the address; null: none, or one that a call under way has.
  RequestArray* find_array(const void* address);
  // From now on there is one, which another may have to make room for.
  void add_array(const void* address);
  // The call that has it begins, or is over. While it is under way none is used or added.
  void use(RequestArray& array) { in_use_ = &array; }
  void end_use(RequestArray& array);
  bool has_array_in_use() const;
  // A call begins inside of one that has an array: see claim().
  void claim_in_use() {
    if (in_use_ != nullptr) std::exchange(in_use_, nullptr)->claim_all();
  }
  // Something that its array knows of a listed entry is no longer so.
  void unlist(RequestEntry& e);

 private:
  friend class RequestArray;
  static constexpr uint32_t kBlock = 64;  // entries of a block; a power of two
  static constexpr size_t kArrays = 4;
  struct ListedAt {
    RequestArray* array = nullptr;
    size_t position = 0;
  };

  static uint64_t variable_key(uint64_t key, const void* variable) {
    return key ^ (reinterpret_cast<uintptr_t>(variable) * 0x9e3779b97f4a7c15u);
  }
  static bool alone(const RequestEntry& e) { return e.next == kNone && e.previous == kNone; }
  uint32_t place_for_one() {
    if (free_.empty()) [[unlikely]]
      return new_place();
    const uint32_t index = free_.back();
    free_.pop_back();
    return index;
  }
  void free_place(RequestEntry& e) {
    pools_[e.pool].give_back(e.position);
    e.state &= RequestEntry::kKept | RequestEntry::kSpecial | RequestEntry::kMessage;
    if (!e.is(RequestEntry::kKept)) free_.push_back(e.index);
  }
  uint32_t new_place();
  void put(uint32_t index, const RequestEntry& entry, uint8_t state);
  void remove_shared(RequestEntry& e);
  uint32_t find_in_chain(uint32_t head, uint64_t key, const void* variable) const;
  RequestEntry* claim_in_chain(uint32_t head, uint64_t key, const void* variable);
  void index_by_variable(RequestEntry& e);
  // An entry that is in no chain has kNone on both sides.
  void link_last(RequestEntry& e) {
    e.state |= RequestEntry::kLinked;
    e.tail = e.index;
    const uint32_t head = heads_.find_or_insert(e.key, e.index);
    if (head != KeyIndex::kMissing) [[unlikely]]
      link_behind(at(head), e);
  }
  void link_behind(RequestEntry& first, RequestEntry& e);
  void link_first(RequestEntry& e);
  void unlink(RequestEntry& e);
  // The request with this handle, if it is the only one: from now on listed there. Null: nothing is
  // known of it, or it shares its handle, or stands further in front in this very array.
  RequestEntry* list(uint64_t key, RequestArray& array, size_t position);
  // find_and_claim() of what list() does not give.
  RequestEntry* claim_unlisted(uint64_t key, const void* variable);
  void claim_listed(RequestEntry& e);
  uint64_t new_version() { return ++versions_; }

  const uint16_t lane_;
  std::vector<std::unique_ptr<RequestEntry[]>> blocks_;
  uint32_t made_ = 0;  // entries of the blocks that were ever used
  std::vector<uint32_t> free_;
  std::vector<PositionPool> pools_;
  KeyIndex heads_;                // key -> first of its chain
  KeyIndex by_variable_;          // variable_key() -> entry, for keys that several entries share
  std::vector<ListedAt> listed_;  // by index of entries; good for those that are listed
  uint64_t versions_ = 0;
  RequestArray* in_use_ = nullptr;
  size_t next_array_ = 0;  // to make room for another one
  std::vector<std::unique_ptr<RequestArray>> arrays_;
};

}  // namespace refrain::tracer
