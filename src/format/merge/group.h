// What merge() and finish() both do with groups: places of ranks, values of slots, tables.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "format/definitions.h"
#include "format/merge/merge.h"
#include "format/walk.h"

namespace refrain::format {

// Shapes parsed once, indexed like PartialTrace::shapes. All shapes of a PartialTrace parse.
std::vector<ShapeInfo> inspect_all(const std::vector<std::string>& shapes);

// Reads a group's slot values. Keeps references to its arguments.
class GroupView {
 public:
  GroupView(const PartialGroup& group, const std::vector<ShapeInfo>& shapes, Places& places)
      : group_(group), shapes_(shapes), places_(places) {}

  // Where rank number `position` of the group stands in the communicator that the signature works
  // on.
  Place place(uint32_t terminal, uint64_t position);
  const base::RunList& ranks();
  const base::NestedRuns& nested_ranks() const { return group_.ranks; }
  // place() for position 0 and every terminal at once.
  std::vector<Place> first_places();
  // Whether place() is a rank's place in the world, for every rank of the group.
  bool is_world(uint32_t terminal);

 private:
  // A definition slot's value; these are constants or tables.
  int64_t definition(uint32_t terminal, uint32_t slot, uint64_t position);
  // Good until the next one is asked for.
  const PartialSignature& signature(uint32_t terminal);

  const PartialGroup& group_;
  const std::vector<ShapeInfo>& shapes_;
  Places& places_;
  // For access by position; made when a position beside the first is asked for.
  std::optional<base::RunList> ranks_;
  std::map<std::pair<uint32_t, uint32_t>, base::RunList> tables_;  // by terminal and slot
  // Signatures that were taken out of the list lately.
  struct Known {
    uint32_t terminal = UINT32_MAX;
    PartialSignature signature;
  };
  static constexpr uint32_t kKnown = 4;
  Known known_[kKnown];
};

// Turns the plain values of a signature in a group of one rank into slot states; no effect on
// others.
void promote(PartialSignature& signature, const ShapeInfo& shape, Place first_place);

// Values of a living slot on the ranks at positions 0 .. count-1 of its group.
base::NestedRuns materialise(const SlotState& state, Place first, GroupView& view,
                             uint32_t terminal, uint64_t count);

}  // namespace refrain::format
