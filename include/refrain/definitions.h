// What the ids inside parameters stand for: communicators, datatypes, call sites.
//
//   const refrain::Value* comm = call.signature->find("comm");
//   if (auto c = trace.communicator(comm->definition(), call.rank))
//     std::cout << c->size() << " ranks\n";
//
// A trace describes each object once, as a definition, and parameters refer to it. The structs here
// are views: they look into their Trace, and stay valid as long as any copy of it lives. They may
// be read from any thread.
//
// A definition holds all that is needed to understand it (the members of a communicator, not the
// MPI_Comm_split that made it), so a call can be understood without those before it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "refrain/ids.h"

namespace refrain {

namespace base {
class RunList;
}

// A list of integers, kept as arithmetic runs: 0..4095 takes as much memory as one number.
//
//   for (uint64_t i = 0; i < list.size(); ++i) use(list.at(i));
//
// A view of its Trace, as all here: cheap to copy, valid as long as the trace.
class IntegerList {
 public:
  uint64_t size() const;
  bool empty() const { return size() == 0; }
  // Element i < size(). O(log runs).
  int64_t at(uint64_t i) const;

 private:
  friend class Communicator;
  friend class Trace;
  const base::RunList* runs_ = nullptr;  // the trace's; null: empty
};

// Ranks of a communicator are numbered from 0; ranks of the world are Rank. What a call passes as
// source, dest or root is the former, and peer() turns it into the latter.
//
// A communicator as one of its members sees it: Trace::communicator() is told which member asks.
class Communicator {
 public:
  DefinitionId definition = kNoDefinition;
  // The N of "comm#N": the same on all members, whatever the handle was in each of them. A number
  // is used again after the communicator was freed.
  int64_t id = 0;
  std::string_view name;  // MPI_COMM_WORLD, MPI_COMM_SELF, MPI_COMM_PARENT; else empty
  bool is_inter = false;
  int64_t me = -1;  // this rank's number in it (in its local group if is_inter); -1: not a member

  // Sizes and members need no walk over the list: O(1) and O(log runs), for a million ranks too.
  //
  // Ranks in it; of an inter-communicator, in its local group.
  uint64_t size() const;
  // World rank of its rank i; -1 when it is not of this world (spawned) or i is out of range.
  Rank member(int64_t i) const;
  // The same for the remote group of an inter-communicator; 0 and -1 for others.
  uint64_t remote_size() const;
  Rank remote_member(int64_t i) const;
  // The world rank that a dest or source parameter `peer` means: a member of the remote group of an
  // inter-communicator, a member otherwise.
  Rank peer(int64_t i) const { return is_inter ? remote_member(i) : member(i); }

 private:
  friend class Trace;
  bool is_alone_ = true;  // just `self_`, and no list of members
  IntegerList members_, remote_members_;
  Rank self_ = -1;
};

// A predefined datatype, or one that the program made. Derived types form a tree: `types` leads to
// those that a type is made of, down to predefined ones. Sizes and extents are those of the machine
// that was recorded.
struct Datatype {
  DefinitionId definition = kNoDefinition;
  int64_t id = 0;           // the N of "datatype#N"
  std::string_view name;    // of a predefined type; empty for a derived one
  int64_t size_bytes = 0;   // data in one element; negative (MPI_UNDEFINED) when not known
  int64_t lower_bound = 0;  // bytes
  int64_t extent_bytes = 0;
  ConstantId combiner;  // MPI_COMBINER_VECTOR, ...; 0 for a predefined type
  // The arguments of the constructor, as MPI_Type_get_contents gives them: what they mean follows
  // from the combiner. `types` are definitions of datatypes.
  IntegerList integers;
  IntegerList addresses;
  std::vector<DefinitionId> types;
};

// Where in the program a call stands: the address that it returns to. A debugger's tools make file
// and line of it, `addr2line -e MODULE OFFSET`, say; the offset is behind the call.
struct Site {
  DefinitionId definition = kNoDefinition;
  std::string_view module;    // path of the executable or library; empty: unknown
  std::string_view build_id;  // hexadecimal; empty: none
  int64_t offset = -1;        // bytes from the module's load address; -1: unknown
};

}  // namespace refrain
