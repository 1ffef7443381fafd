// RequestArray: a long array of requests that a program polls.
//
// A program with ten thousand requests passes all of them to MPI_Testsome again and again, and
// hardly any has changed since the last call. What was found of them is kept here; the next call
// compares the handles, and looks up those that differ.
//
// Picture: an entry of the table that stands in an array is *listed*, at one position of one array.
//
//     program   handles  [ a  b  c  d  e ]       compared with the copy, block by block
//     array     handles  [ a  b  c  x  e ]  ->   d is looked up
//               entries  [ *  *  !  *  * ]       !: stale, as the table has changed the entry
//
// Laws: between its calls and during them listed entries are not claimed. They are when another
// call begins inside of such a call: RequestTable::claim_in_use(). Entries that share their handle
// with others, and handles that nothing is known about, are looked up by each call. Where threads
// have lanes of their own there are no such arrays. Budget: 0.5 ns for a handle that stays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace refrain::tracer {

struct RequestEntry;
class RequestTable;

// What a request of a completion call is, as a word: the terminal of the call that made it and bits
// of a persistent one that is not active, and of an active receive with a wildcard; or what is no
// entry.
namespace request_word {
inline constexpr uint64_t kNull = uint64_t{1} << 40;
inline constexpr uint64_t kUnknown = uint64_t{1} << 41;
inline constexpr uint64_t kIdle = uint64_t{1} << 42;
inline constexpr uint64_t kElsewhere = uint64_t{1} << 43;  // to be looked for in other lanes
inline constexpr uint64_t kWildcard = uint64_t{1} << 44;   // in a RequestArray only
// Two requests are the same in a signature if they agree but for these.
inline constexpr uint64_t kOfState = kIdle | kWildcard;
}  // namespace request_word

class RequestArray {
 public:
  // `address`: of the program's array. The table outlives this object.
  RequestArray(RequestTable& table, const void* address) : table_(table), address_(address) {}
  ~RequestArray();
  RequestArray(const RequestArray&) = delete;
  RequestArray& operator=(const RequestArray&) = delete;

  const void* address() const { return address_; }
  bool in_use() const { return in_use_; }
  // By position: null where there is none, or it is over.
  RequestEntry** entries() { return entries_.data(); }
  const uint64_t* words() const { return words_.data(); }
  // Equal for calls with equal words, and never the same for others of the table.
  uint64_t version() const { return version_; }
  bool has_wildcard() const { return wildcards_ > 0; }

  // A call begins: `now` is the program's array. Handles without padding.
  template <class Handle, class KeyOf>
  void begin(const Handle* now, size_t count, Handle null, KeyOf key_of) {
    begin_with(count, sizeof(Handle));
    for (size_t block = 0; block * kBlock < count; ++block) {
      const size_t first = block * kBlock, n = count - first < kBlock ? count - first : kBlock;
      const char* const before = handles_.data() + first * sizeof(Handle);
      if (!changed_[block] && std::memcmp(before, now + first, n * sizeof(Handle)) == 0) continue;
      changed_[block] = false;
      for (size_t i = first; i < first + n; ++i) {
        char* const known = handles_.data() + i * sizeof(Handle);
        if (!is_stale(i) && std::memcmp(known, now + i, sizeof(Handle)) == 0) continue;
        std::memcpy(known, now + i, sizeof(Handle));
        look_up(i, now[i] == null, key_of(now[i]), now + i);
      }
    }
    has_begun();
  }
  // Request i, which is one, is over, and its handle has become null.
  template <class Handle>
  void remove(size_t i, Handle null) {
    std::memcpy(handles_.data() + i * sizeof(Handle), &null, sizeof(Handle));
    remove_entry(i);
  }
  // The call is over. False: there is nothing to keep, and the array may be dropped.
  bool end();

 private:
  friend class RequestTable;
  static constexpr size_t kBlock = 64;

  void begin_with(size_t count, size_t handle_bytes);
  void has_begun();
  void look_up(size_t i, bool is_null, uint64_t key, const void* variable);
  void put(size_t i, RequestEntry* entry, uint64_t word);
  void remove_entry(size_t i);
  // Whatever is found again is to be claimed: see RequestTable::claim_in_use().
  void claim_all();
  // The entry that stands here is not listed any more.
  void forget(size_t i);
  bool is_stale(size_t i) const;

  RequestTable& table_;
  const void* const address_;
  std::vector<char> handles_;  // as the last call left them
  std::vector<RequestEntry*> entries_;
  std::vector<uint64_t> words_;
  std::vector<char> changed_;        // by block: whether an entry of it is stale
  std::vector<uint32_t> each_time_;  // positions that are looked up by each call
  uint64_t version_ = 0;
  size_t known_ = 0, wildcards_ = 0;  // entries that are there; those with a wildcard
  bool words_changed_ = true;
  bool in_use_ = false;
  bool all_claimed_ = false;
};

}  // namespace refrain::tracer
