// Call paths that are one in the source. A compiler may make several copies of a call: of a loop
// that it peels or unrolls, of what follows a branch. Each copy has an address of its own, so that
// the trace has several call paths for what the program says once.
#pragma once

#include <vector>

#include "reader/symbols.h"
#include "refrain/trace.h"

namespace refrain::reader {

class SourcePaths {
 public:
  // Every path stands for itself.
  SourcePaths() = default;
  // Looks up all call paths of the trace. Those whose source is not known stand for themselves.
  SourcePaths(const Trace& trace, Symbols& symbols);

  // The first path that is the same in the source.
  DefinitionId of(DefinitionId path) const { return path < first_.size() ? first_[path] : path; }

 private:
  std::vector<DefinitionId> first_;  // by path
};

}  // namespace refrain::reader
