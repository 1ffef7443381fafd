// Names of call sites: "heat.c:41" where the program's debug information says so, else
// "heat+0x1234", else nothing.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "reader/symbols.h"
#include "refrain/trace.h"

namespace refrain::text {

// Looks each site up once. Keeps a reference to `trace`. Not thread safe.
class SiteNames {
 public:
  // With resolve false, debug information is not looked for.
  SiteNames(const Trace& trace, bool resolve);

  // Empty when nothing is known.
  const std::string& name(DefinitionId site);

 private:
  const Trace& trace_;
  std::unique_ptr<reader::Symbols> symbols_;  // null: do not resolve
  std::unordered_map<DefinitionId, std::string> names_;
};

}  // namespace refrain::text
