// Names of call paths: the steps that lead to a call.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "reader/symbols.h"
#include "refrain/trace.h"
#include "text/display.h"

namespace refrain::text {

struct PathStep {
  std::string site;      // "heat.c:41", "module+0x1234", "unknown"
  std::string function;  // that holds it; may be empty
  // As display() wants names.
  std::string label() const { return function.empty() ? site : shown_name(function) + " " + site; }
};

class PathNames {
 public:
  PathNames(const Trace& trace, reader::Symbols& symbols) : trace_(trace), symbols_(symbols) {}
  // Outermost first; one step "unknown" where nothing is known. Valid as long as this object.
  const std::vector<PathStep>& steps(DefinitionId path);
  // "main heat.c:120 > exchange heat.c:41"
  std::string text(DefinitionId path);
  // The innermost step; of paths of tell_apart() that end alike, with the steps in which they
  // differ: "exchange heat.c:41 (in main heat.c:120)".
  std::string label(DefinitionId path);
  // What label() adds to the innermost step; empty or "(in ...)" behind a blank.
  std::string callers(DefinitionId path) const;
  void tell_apart(const std::vector<DefinitionId>& paths);
  // Whether text() contains `part`, or would with names in full.
  bool contains(DefinitionId path, const std::string& part);

 private:
  const Trace& trace_;
  reader::Symbols& symbols_;
  std::unordered_map<DefinitionId, std::vector<PathStep>> known_;
  std::unordered_map<DefinitionId, std::string> differences_;
};

}  // namespace refrain::text
