// Definitions stand in an order in which they refer to earlier ones only, so one pass parses and
// checks them.

#include "reader/definition_table.h"

#include <array>
#include <string>
#include <utility>

#include "base/bytes.h"

namespace refrain::reader {

using format::Definition;
using format::DefinitionKind;

bool DefinitionTable::add(const Definition& definition) {
  base::ByteReader in(definition.payload);
  Slot slot{definition.kind, 0, 0};
  // Forward references would allow cycles.
  for (const uint32_t ref : definition.refs)
    if (ref >= slots_.size()) return false;
  switch (definition.kind) {
    case DefinitionKind::kSite: {
      const DefinitionId module_id =
          definition.refs.empty() ? kNoDefinition : DefinitionId(definition.refs[0]);
      if (module_id != kNoDefinition && !is_kind(module_id, DefinitionKind::kModule)) return false;
      slot.index = static_cast<uint32_t>(sites_.size());
      sites_.push_back({in.zigzag(), module_id});
      break;
    }
    case DefinitionKind::kModule: {
      slot.index = static_cast<uint32_t>(modules_.size());
      const std::string_view path = in.string();
      modules_.push_back({std::string(path), std::string(in.string())});
      break;
    }
    case DefinitionKind::kComm: {
      auto comm = format::parse_comm(definition.payload);
      if (!comm) return false;
      slot.index = static_cast<uint32_t>(comms_.size());
      slot.symbolic_id = comm->id;
      comms_.push_back(std::move(*comm));
      break;
    }
    case DefinitionKind::kDatatype: {
      auto type = format::parse_datatype(definition.payload);
      if (!type) return false;
      for (const uint32_t ref : definition.refs)
        if (!is_kind(ref, DefinitionKind::kDatatype)) return false;
      slot.index = static_cast<uint32_t>(datatypes_.size());
      slot.symbolic_id = type->id;
      datatypes_.push_back(std::move(*type));
      break;
    }
    case DefinitionKind::kPath:
      for (const uint32_t ref : definition.refs)
        if (!is_kind(ref, DefinitionKind::kSite)) return false;
      if (definition.refs.empty()) return false;
      slot.index = static_cast<uint32_t>(paths_.size());
      paths_.emplace_back(definition.refs.begin(), definition.refs.end());
      break;
    case DefinitionKind::kRegion: break;  // reserved: kept, not understood
    default:
      if (definition.kind > DefinitionKind::kStream) break;  // from a later minor version
      slot.symbolic_id = in.zigzag();
      slot.index = definition.refs.empty() ? uint32_t{kNoDefinition} : definition.refs[0];
      break;
  }
  if (in.ok()) slots_.push_back(slot);
  return in.ok();
}

base::Result<DefinitionTable> DefinitionTable::parse(const std::vector<Definition>& definitions) {
  DefinitionTable table;
  table.slots_.reserve(definitions.size());
  for (size_t i = 0; i < definitions.size(); ++i) {
    if (!table.add(definitions[i]))
      return base::fail("damaged: the content of definition " + std::to_string(i) +
                        " makes no sense; record again");
  }
  return table;
}

const format::CommDefinition* DefinitionTable::comm(DefinitionId id) const {
  return is_kind(id, DefinitionKind::kComm) ? &comms_[slots_[id].index] : nullptr;
}

const format::DatatypeDefinition* DefinitionTable::datatype(DefinitionId id) const {
  return is_kind(id, DefinitionKind::kDatatype) ? &datatypes_[slots_[id].index] : nullptr;
}

std::vector<DefinitionId> DefinitionTable::call_path(DefinitionId id) const {
  if (is_kind(id, DefinitionKind::kSite)) return {id};
  return is_kind(id, DefinitionKind::kPath) ? paths_[slots_[id].index]
                                            : std::vector<DefinitionId>();
}

DefinitionId DefinitionTable::call_site(DefinitionId id) const {
  if (is_kind(id, DefinitionKind::kPath)) return paths_[slots_[id].index].front();
  return is_kind(id, DefinitionKind::kSite) ? id : kNoDefinition;
}

const SiteRecord* DefinitionTable::site(DefinitionId id) const {
  id = call_site(id);
  return is_kind(id, DefinitionKind::kSite) ? &sites_[slots_[id].index] : nullptr;
}

const ModuleRecord* DefinitionTable::module(DefinitionId id) const {
  return is_kind(id, DefinitionKind::kModule) ? &modules_[slots_[id].index] : nullptr;
}

int64_t DefinitionTable::symbolic_id(DefinitionId id) const {
  return id < slots_.size() ? slots_[id].symbolic_id : 0;
}

DefinitionId DefinitionTable::communicator_of(DefinitionId id) const {
  if (is_kind(id, DefinitionKind::kComm)) return id;
  if (is_kind(id, DefinitionKind::kWin) || is_kind(id, DefinitionKind::kFile)) {
    const DefinitionId comm_id = slots_[id].index;
    return is_kind(comm_id, DefinitionKind::kComm) ? comm_id : kNoDefinition;
  }
  return kNoDefinition;
}

std::string_view kind_name(DefinitionKind kind) {
  static constexpr std::array<std::string_view, 22> kNames = {
      "site",         "module", "comm",         "datatype", "group",  "win",       "file", "op",
      "errhandler",   "info",   "message",      "session",  "keyval", "tool_enum", "cvar", "pvar",
      "pvar_session", "event",  "registration", "path",     "region", "stream"};
  const auto i = static_cast<size_t>(kind);
  return i < kNames.size() ? kNames[i] : "object";
}

}  // namespace refrain::reader
