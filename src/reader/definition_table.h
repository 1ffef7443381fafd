// The definitions of a trace, parsed and checked once; looks into the TraceData that it was made
// from.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/runs.h"
#include "format/definitions.h"
#include "format/trace_data.h"
#include "refrain/ids.h"

namespace refrain::reader {

struct SiteRecord {
  int64_t offset = -1;
  DefinitionId module = kNoDefinition;
};

struct ModuleRecord {
  std::string path, build_id;
};

class DefinitionTable {
 public:
  // Fails with the index of the first definition that makes no sense.
  static base::Result<DefinitionTable> parse(const std::vector<format::Definition>& definitions);

  // The next definition. What was given out of others stays where it is.
  // False: it makes no sense, and is not there.
  bool add(const format::Definition& definition);

  size_t size() const { return slots_.size(); }
  // Undefined for id >= size().
  format::DefinitionKind kind(DefinitionId id) const { return slots_[id].kind; }
  // nullptr when `id` is out of range or of another kind.
  const format::CommDefinition* comm(DefinitionId id) const;
  const format::DatatypeDefinition* datatype(DefinitionId id) const;
  // Of a call path: its innermost call site.
  const SiteRecord* site(DefinitionId id) const;
  DefinitionId call_site(DefinitionId id) const;
  std::vector<DefinitionId> call_path(DefinitionId id) const;
  const ModuleRecord* module(DefinitionId id) const;
  // Symbolic id of an object of any kind; 0 for sites and modules.
  int64_t symbolic_id(DefinitionId id) const;
  // The communicator behind a communicator, window or file, else kNoDefinition.
  DefinitionId communicator_of(DefinitionId id) const;

 private:
  struct Slot {
    format::DefinitionKind kind{};
    uint32_t index = 0;  // into the vector of its kind; the communicator for windows and files
    int64_t symbolic_id = 0;
  };
  bool is_kind(DefinitionId id, format::DefinitionKind kind) const {
    return id < slots_.size() && slots_[id].kind == kind;
  }

  std::vector<Slot> slots_;
  std::deque<format::CommDefinition> comms_;
  std::deque<format::DatatypeDefinition> datatypes_;
  std::vector<SiteRecord> sites_;
  std::vector<std::vector<DefinitionId>> paths_;
  std::deque<ModuleRecord> modules_;
};

// "comm", "datatype", ...: the word before # in an object's name.
std::string_view kind_name(format::DefinitionKind kind);

}  // namespace refrain::reader
