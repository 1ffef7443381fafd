// Whether calls of two traces stand at the same place of a program: their call paths are compared
// site by site, by module and offset.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "refrain/trace.h"

namespace refrain::analysis {

// The traces outlive it. Pairs are compared once.
class PlaceComparison {
 public:
  PlaceComparison(const Trace& original, const Trace& again) : original_(original), again_(again) {}
  bool same(DefinitionId original, DefinitionId again);

 private:
  bool compare(DefinitionId original, DefinitionId again) const;

  const Trace& original_;
  const Trace& again_;
  std::unordered_map<uint64_t, bool> known_;
};

}  // namespace refrain::analysis
