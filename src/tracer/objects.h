// What the recorder has to know of communicators and datatypes beyond their handles.
#pragma once

#include <mpi.h>

#include "tracer/encoder.h"
#include "tracer/process.h"

namespace refrain::tracer {

// Symbolic ids of communicators are the same on all members. A *family* is a set of communicators
// with the same group: the first one (its root) and its duplicates. The number of a root is agreed
// on by one reduction over the new communicator, the lowest that no member uses; the number of a
// duplicate follows from its root's and from how many duplicates of that root are alive, which all
// members see alike, so MPI_Comm_dup, MPI_Comm_idup, MPI_Cart_create without reordering and the
// like cost no communication. Families 0 and 1 are those of MPI_COMM_WORLD and MPI_COMM_SELF.
//
//   id = 16 * family + member, member 0 = the root; the 16th member and later: + 2^20 * (member /
//   16)
class CommIds {
 public:
  static constexpr int kFamilySize = 16;
  static constexpr int kMaxFamilies = 512;

  int take_member(int family);
  void start_family(int family);  // with member 0 in use
  void give_back(int family, int member);
  // Bit f set: family f has living members here.
  void used_families(uint64_t (&mask)[kMaxFamilies / 64]) const;
  // The lowest family that `mask` leaves free, from 2 on.
  static int lowest_free(const uint64_t (&mask)[kMaxFamilies / 64]);
  static int64_t id_of(int family, int member) {
    return int64_t{kFamilySize} * family + member % kFamilySize +
           (int64_t{1} << 20) * (member / kFamilySize);
  }

 private:
  std::vector<IdPool> members_;
};

CommIds& comm_ids();

// Makes the definitions of MPI_COMM_WORLD and MPI_COMM_SELF; at the end of MPI_Init.
void define_world(Process& p);
// Lock held.
void release_comm(Process& p, uint32_t def);

uint32_t define_predefined_datatype(Process& p, uint64_t key, uint32_t constant);
// A derived datatype and everything that it is made of.
uint32_t define_datatype(Process& p, MPI_Datatype type);

// A window or file: an id and the communicator it works on.
Captured define_with_comm(Process& p, Kind kind, uint64_t key, uint64_t comm_key);

}  // namespace refrain::tracer
