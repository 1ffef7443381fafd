// Functions on a group of ranks that merge() and finish() share: the place of a rank in a
// communicator, the values of a slot, tables of values.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "format/definitions.h"
#include "format/merge/merge.h"

namespace refrain::format {

// Reads a group's slot values. Keeps references to its arguments. `signatures`: those of the group,
// which may stand in another one that has the same.
class GroupView {
 public:
  GroupView(const PartialGroup& group, const SignatureList& signatures, const ShapeTable& shapes,
            CommPlaces& places)
      : group_(group), signatures_(signatures), shapes_(shapes), places_(places) {}

  // Where rank number `position` of the group stands in the communicator that the signature works
  // on.
  CommPlace place(uint32_t terminal, uint64_t position);
  CommPlace first_place(uint32_t terminal);
  const base::RunList& ranks();
  const base::NestedRuns& nested_ranks() const { return group_.ranks; }
  // Whether place() is a rank's place in the world, for every rank of the group.
  bool is_world(uint32_t terminal);

 private:
  // A definition slot's value; these are constants or tables.
  int64_t definition(uint32_t terminal, uint32_t slot, uint64_t position);

  const PartialGroup& group_;
  const SignatureList& signatures_;
  const ShapeTable& shapes_;
  CommPlaces& places_;
  // For access by position; made when a position beside the first is asked for.
  std::optional<base::RunList> ranks_;
  std::map<std::pair<uint32_t, uint32_t>, base::RunList> tables_;  // by terminal and slot
  // The places of the first rank in what definitions say, by definition.
  struct FirstPlace {
    bool is_known = false;
    std::optional<CommPlace> place;
  };
  std::vector<FirstPlace> first_places_;
};

// The state of a slot; of a group of one rank what its value allows. `place`: of the first rank.
SlotState state_of(const SignatureList& signatures, const ShapeStructure& structure,
                   uint32_t terminal, size_t slot, CommPlace place);

// Values of a living slot on the ranks at positions 0 .. count-1 of its group.
base::NestedRuns materialise(const SlotState& state, CommPlace first, GroupView& view,
                             uint32_t terminal, uint64_t count);

// How large a set of ranks is, in a measure that does not depend on the lengths of a mesh's sides:
// the inside is before its faces, those before edges and corners. Sets without order go by number.
std::pair<int, uint64_t> extent_of(const base::NestedRuns& ranks);

}  // namespace refrain::format
