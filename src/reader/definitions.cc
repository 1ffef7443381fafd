// Views of definitions for the public API. Names of predefined objects come from the table of
// constants; what the program made has a symbolic number.

#include "refrain/definitions.h"

#include "base/runs.h"
#include "mpi/call_table.h"
#include "reader/trace_impl.h"
#include "refrain/trace.h"

namespace refrain {

namespace {

// -1 out of range.
Rank at(const IntegerList& list, int64_t i) {
  return i < 0 || static_cast<uint64_t>(i) >= list.size() ? -1 : list.at(static_cast<uint64_t>(i));
}

}  // namespace

uint64_t IntegerList::size() const { return runs_ == nullptr ? 0 : runs_->size(); }

int64_t IntegerList::at(uint64_t i) const { return runs_->at(i); }

uint64_t Communicator::size() const { return is_alone_ ? 1 : members_.size(); }

Rank Communicator::member(int64_t i) const {
  return is_alone_ ? (i == 0 ? self_ : -1) : at(members_, i);
}

uint64_t Communicator::remote_size() const { return remote_members_.size(); }

Rank Communicator::remote_member(int64_t i) const { return at(remote_members_, i); }

std::optional<Communicator> Trace::communicator(DefinitionId id, Rank me) const {
  const format::CommDefinition* comm = impl_->definitions.comm(id);
  if (comm == nullptr) return std::nullopt;
  Communicator result;
  result.definition = id;
  result.id = comm->id;
  result.name = mpi::constant_name(comm->constant);
  result.is_inter = comm->inter;
  result.self_ = me;
  if (comm->has_members) {
    // Its members stand in the definition.
    result.is_alone_ = false;
    result.members_.runs_ = &comm->local;
    if (comm->inter) result.remote_members_.runs_ = &comm->remote;
    result.me = comm->local.find(me);
  } else if (result.name == "MPI_COMM_SELF") {
    result.me = 0;
  } else {
    result.is_alone_ = false;
    result.members_.runs_ = &impl_->world;
    result.me = me;
  }
  return result;
}

Communicator Trace::world(Rank me) const {
  Communicator world;
  world.name = "MPI_COMM_WORLD";
  world.is_alone_ = false;
  world.members_.runs_ = &impl_->world;
  world.me = world.self_ = me;
  return world;
}

std::optional<Datatype> Trace::datatype(DefinitionId id) const {
  const format::DatatypeDefinition* type = impl_->definitions.datatype(id);
  if (type == nullptr) return std::nullopt;
  Datatype result;
  result.definition = id;
  result.id = type->id;
  result.name = mpi::constant_name(type->constant);
  result.size_bytes = type->size_bytes;
  result.lower_bound = type->lower_bound;
  result.extent_bytes = type->extent_bytes;
  result.combiner = type->combiner;
  result.integers.runs_ = &type->integers;
  result.addresses.runs_ = &type->addresses;
  for (const uint32_t ref : impl_->data.definitions[id].refs) result.types.emplace_back(ref);
  return result;
}

std::optional<Site> Trace::site(DefinitionId id) const {
  const reader::SiteRecord* record = impl_->definitions.site(id);
  if (record == nullptr) return std::nullopt;
  Site site;
  site.definition = impl_->definitions.call_site(id);
  site.offset = record->offset;
  if (const reader::ModuleRecord* module = impl_->definitions.module(record->module)) {
    site.module = module->path;
    site.build_id = module->build_id;
  }
  return site;
}

DefinitionId Trace::call_site(DefinitionId id) const { return impl_->definitions.call_site(id); }

std::vector<DefinitionId> Trace::call_path(DefinitionId id) const {
  return impl_->definitions.call_path(id);
}

DefinitionId Trace::communicator_of(DefinitionId id) const {
  return impl_->definitions.communicator_of(id);
}

std::string Trace::object_name(DefinitionId id) const {
  const reader::DefinitionTable& table = impl_->definitions;
  if (id >= table.size()) return "object#?";
  uint32_t constant = 0;
  if (const format::CommDefinition* comm = table.comm(id)) constant = comm->constant;
  if (const format::DatatypeDefinition* type = table.datatype(id)) constant = type->constant;
  if (const std::string_view name = mpi::constant_name(constant); !name.empty())
    return std::string(name);
  return std::string(reader::kind_name(table.kind(id))) + "#" +
         std::to_string(table.symbolic_id(id));
}

}  // namespace refrain
