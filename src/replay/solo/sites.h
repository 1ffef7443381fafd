// Call sites: from what the trace says of one to the address in this process, and back to text.
//
// A module is found by its path, else by its build id, else by its file name. Where a module of the
// trace has another build id here, nothing is known of its addresses, and `changed()` names it
// once. One thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "refrain/trace.h"

namespace refrain::replay::solo {

class Sites {
 public:
  explicit Sites(const Trace& trace) : trace_(trace) {}
  // The return address that a call site, call path or function of the trace has here; 0: not known.
  uintptr_t address_of(DefinitionId site);
  // "app+0x1139 (main)".
  std::string text_of(uintptr_t address);
  // Whether the code at an address is the MPI library's, or that of its Fortran layer.
  bool is_mpi(uintptr_t address);
  bool has_changed() const { return !changed_.empty(); }
  // Modules of the trace that are others here, since it was last asked.
  std::vector<std::string> changed();

 private:
  struct Module {
    std::string path, build_id;
    uintptr_t base = 0;
  };
  const Module* module_of(const Site& site);
  void refresh();

  const Trace& trace_;
  std::vector<Module> modules_;
  std::unordered_map<DefinitionId, uintptr_t> known_;
  std::vector<std::string> changed_, told_;
  std::unordered_map<uintptr_t, bool> is_mpi_;
};

}  // namespace refrain::replay::solo
