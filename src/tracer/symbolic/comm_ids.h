// CommIds: symbolic ids of communicators, the same on all members (docs/decisions/0003).
//
// A *family* is a set of communicators with the same group: the first one (its root) and its
// duplicates. The number of a root is agreed on by one reduction over the new communicator, the
// lowest that no member uses; the number of a duplicate follows from its root's and from how many
// duplicates of that root are alive, which all members see alike, so MPI_Comm_dup, MPI_Comm_idup,
// MPI_Cart_create without reordering and the like cost no communication. Families 0 and 1 are those
// of MPI_COMM_WORLD and MPI_COMM_SELF.
//
// Not thread safe: the owner locks. Knows no MPI.
#pragma once

#include <cstdint>
#include <vector>

#include "tracer/tables/id_pool.h"

namespace refrain::tracer {

class CommIds {
 public:
  static constexpr int kFamilySize = 16;
  // Families that the mask has a bit for; beyond them numbers are agreed on by their maximum.
  static constexpr int kMaskFamilies = 512;
  static constexpr int kMaskWords = kMaskFamilies / 64;
  static constexpr int kFirst = 2;

  int take_member(int family);
  // The family begins, with member 0 in use; false when it is in use already.
  bool start_family(int family);
  void give_back(int family, int member);
  // `mask` has kMaskWords. Bit f set: family f has living members here.
  void used_families(uint64_t* mask) const;
  // The lowest family that `mask` leaves free, from `start` on, else from kFirst on; kMaskFamilies
  // when there is none.
  static int lowest_free(const uint64_t* mask, int start = kFirst);
  // The lowest number from kMaskFamilies on with nothing in use here at or above it.
  int above_all() const;

  // 16 * family + member, member 0 = the root; of the 16th member and later: + 2^40 * (member / 16)
  static int64_t id_of(int family, int member) {
    return int64_t{kFamilySize} * family + member % kFamilySize +
           (int64_t{1} << 40) * (member / kFamilySize);
  }

 private:
  std::vector<IdPool> members_;
};

}  // namespace refrain::tracer
