// The objects that the program has handles of: communicators, datatypes, requests and the rest.
//
// The handles are ours. Where they are pointers, each points to memory of its own, whose 32-bit
// words are all the number that the object has in Fortran: the Fortran layer of Open MPI reads that
// number out of an object at a place that depends on its version. Predefined objects keep the
// MPI's own handles and have no Object until something is kept for them (attributes, an error
// handler).
//
// An object is found by its handle, and by what the trace calls it: its kind and its symbolic
// number, or for a request the signature that made it. One thread at a time (Player's lock).
//
// Laws: programs make and end a request with every other call, so making and erasing allocate
// nothing once as many objects have been there before: those that ended are used again, and stay in
// the tables, where `is_there` says so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mpi/call_table.h"
#include "mpi/typemap.h"
#include "refrain/ids.h"
#include "replay/solo/key_map.h"

namespace refrain::replay::solo {

// Where packed bytes go: `count` elements at `at`; count 0: as many as there are bytes for.
struct Place {
  std::byte* at = nullptr;
  mpi::TypeMap type;
  uint64_t count = 0;
};

// A function of the program with what it wants to be given.
struct Callback {
  void* function = nullptr;
  bool is_fortran = false;
};

struct Attribute {
  void* value = nullptr;
  uint64_t keyval = 0;
  uint64_t number = 0;  // larger than that of one that was set before it
};

struct RealRequest;  // inside.h

struct Object {
  mpi::ParamKind kind{};
  int64_t number = 0;  // in the trace; of a request: the signature that made it
  uint64_t key = 0;    // the handle
  int64_t fortran = 0;
  uint32_t own = 0;  // our number of it
  DefinitionId definition = kNoDefinition;
  uint32_t further_references = 0;  // how often more than once MPI has given it out
  bool is_predefined = false;
  bool is_there = false;  // false: it has ended, and its memory waits for the next one

  mpi::TypeMap type;  // of a datatype
  bool has_type = false;

  std::map<uint64_t, Attribute> attributes;  // by keyval
  Callback handler;                          // of an error handler, or the one that was set
  Callback copy, remove;                     // of a keyval
  void* extra = nullptr;                     // of a keyval or generalised request
  bool has_small_values = false;             // keyvals of MPI-1's Fortran: an INTEGER
  bool was_set = false;                      // of a keyval: there is, or was, an attribute

  // of a request
  CallId made_by = 0;
  bool is_persistent = false, is_general = false, is_partitioned = false;
  Callback query, free, cancel;
  uint64_t subject = 0;  // the communicator, window or file of the call that made it
  mpi::ParamKind subject_kind = mpi::ParamKind::kComm;
  std::byte* flat = nullptr;  // where bytes in a row go; null: see `places`
  std::vector<Place> places;
  std::shared_ptr<RealRequest> inside;  // of the group that the rank runs in
  bool receives() const { return flat != nullptr || !places.empty(); }

  // of a window, or memory attached
  void* base = nullptr;
  int64_t bytes = 0, unit = 1, flavor = 0, model = 0;
  bool owns_memory = false;
  std::vector<std::byte*> regions;  // attached to a dynamic one, in order
  int64_t own_part = -1;            // of a shared one: this rank in its group

  std::unique_ptr<std::byte[]> body;  // what a handle points to

  // As new, but for what does not depend on the kind of the object.
  void reset();

 private:
  void reset_request();
  void reset_others();
};

class Objects {
 public:
  Objects();
  // Null: none of ours, or predefined without anything kept for it.
  Object* find(mpi::ParamKind kind, uint64_t key) {
    Object* const found = by_key_.find(mixed(kind, key));
    const bool is_it =
        found != nullptr && found->is_there && found->kind == kind && found->key == key;
    return is_it ? found : nullptr;
  }
  Object* find_number(mpi::ParamKind kind, int64_t number) {
    Object* const found = by_number_.find(mixed(kind, static_cast<uint64_t>(number)));
    const bool is_it =
        found != nullptr && found->is_there && found->kind == kind && found->number == number;
    return is_it ? found : nullptr;
  }
  // That of a predefined handle too, made when it is first asked for.
  Object& at(mpi::ParamKind kind, uint64_t key);
  // A new one with a handle of its own. One of the same kind and number is not found by it any
  // more.
  Object& make(mpi::ParamKind kind, int64_t number);
  void erase(mpi::ParamKind kind, uint64_t key);
  void erase(Object& object);
  // Each is then found by the number of the other one. Both are of one kind.
  void exchange_numbers(Object& one, Object& other);

  // The numbers of Fortran; the C handle where both are one.
  int64_t to_fortran(mpi::ParamKind kind, uint64_t key);
  uint64_t from_fortran(mpi::ParamKind kind, int64_t number);
  // The number that the program is to see for a handle, where C and Fortran have different ones:
  // `recorded`, which then names the object beside its own number, or its own.
  int64_t also_in_fortran(mpi::ParamKind kind, uint64_t key, int64_t recorded);

 private:
  // Kind and number, or handle: those of two kinds may be the same.
  static uint64_t mixed(mpi::ParamKind kind, uint64_t key) {
    return key ^ (static_cast<uint64_t>(kind) << 57);
  }
  void give_handle(Object& object, uint32_t own);

  KeyMap<Object> by_key_, by_number_;
  std::vector<std::unique_ptr<Object>> made_;  // of number kFirst + i, also when it has ended
  std::vector<std::unique_ptr<Object>> predefined_;
  using Key = std::pair<mpi::ParamKind, uint64_t>;
  std::map<Key, uint64_t> by_fortran_;  // of predefined handles
  std::map<Key, int64_t> predefined_fortran_;
  std::map<Key, uint64_t> recorded_fortran_;  // by kind and recorded number
  std::vector<uint32_t> free_numbers_;
  static constexpr uint32_t kFirst = 4096;  // above the numbers of predefined objects
};

// Bytes of a handle of that kind in the MPI at hand.
size_t handle_bytes(mpi::ParamKind kind);
// The null handle of a kind.
uint64_t null_handle(mpi::ParamKind kind);

}  // namespace refrain::replay::solo
