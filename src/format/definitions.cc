#include "format/definitions.h"

#include "base/bytes.h"
#include "format/limits.h"
#include "mpi/call_table.h"

namespace refrain::format {

namespace {
constexpr uint8_t kInterFlag = 1;
}

std::optional<CommDefinition> parse_comm(std::string_view payload) {
  base::ByteReader in(payload);
  CommDefinition comm;
  comm.id = in.zigzag();
  comm.constant = static_cast<uint32_t>(in.varint());
  const uint8_t flags = in.u8();
  comm.inter = (flags & kInterFlag) != 0;
  comm.has_members = !in.at_end();
  if (comm.has_members) {
    comm.local = base::RunList::read(in, kMaxMembers);
    if (comm.inter) comm.remote = base::RunList::read(in, kMaxMembers);
  }
  if (!in.ok() || !in.at_end() || flags > kInterFlag) return std::nullopt;
  return comm;
}

std::optional<DatatypeDefinition> parse_datatype(std::string_view payload) {
  base::ByteReader in(payload);
  DatatypeDefinition type;
  type.id = in.zigzag();
  type.constant = static_cast<uint32_t>(in.varint());
  type.size_bytes = in.zigzag();
  type.lower_bound = in.zigzag();
  type.extent_bytes = in.zigzag();
  if (type.constant == 0) {
    type.combiner = static_cast<uint32_t>(in.varint());
    type.integers = base::RunList::read(in, kMaxSignatureValues);
    type.addresses = base::RunList::read(in, kMaxSignatureValues);
  }
  if (!in.ok() || !in.at_end()) return std::nullopt;
  return type;
}

std::string write_comm(const CommDefinition& comm) {
  base::ByteWriter out;
  out.put_zigzag(comm.id);
  out.put_varint(comm.constant);
  out.put_u8(comm.inter ? kInterFlag : 0);
  if (comm.has_members) {
    comm.local.write(out);
    if (comm.inter) comm.remote.write(out);
  }
  return out.take();
}

std::string write_datatype(const DatatypeDefinition& type) {
  base::ByteWriter out;
  out.put_zigzag(type.id);
  out.put_varint(type.constant);
  out.put_zigzag(type.size_bytes);
  out.put_zigzag(type.lower_bound);
  out.put_zigzag(type.extent_bytes);
  if (type.constant == 0) {
    out.put_varint(type.combiner);
    type.integers.write(out);
    type.addresses.write(out);
  }
  return out.take();
}

CommPlaces::CommPlaces(const std::vector<Definition>& definitions, uint64_t world_size)
    : definitions_(definitions),
      world_size_(world_size),
      self_constant_(mpi::constant_id("MPI_COMM_SELF")) {}

CommPlace CommPlaces::world(uint64_t rank) const {
  return {static_cast<int64_t>(rank), static_cast<int64_t>(world_size_)};
}

const CommDefinition* CommPlaces::comm_of(int64_t definition) {
  if (definition < 0 || static_cast<uint64_t>(definition) >= definitions_.size()) return nullptr;
  const Definition* d = &definitions_[static_cast<size_t>(definition)];
  if (d->kind == DefinitionKind::kWin || d->kind == DefinitionKind::kFile) {
    if (d->refs.empty() || d->refs[0] >= definitions_.size()) return nullptr;
    definition = d->refs[0];
    d = &definitions_[d->refs[0]];
  }
  if (d->kind != DefinitionKind::kComm) return nullptr;
  const auto [known, is_new] = comms_.try_emplace(definition);
  if (is_new) known->second = parse_comm(d->payload);
  return known->second ? &*known->second : nullptr;
}

std::optional<CommPlace> CommPlaces::in(int64_t definition, uint64_t rank) {
  const CommDefinition* comm = comm_of(definition);
  if (comm == nullptr) return std::nullopt;
  if (is_everybody(*comm)) return world(rank);
  if (!comm->has_members) return CommPlace{0, 1};
  const base::RunList& counted = comm->inter ? comm->remote : comm->local;
  return CommPlace{comm->local.find(static_cast<int64_t>(rank)),
                   static_cast<int64_t>(counted.size())};
}

bool CommPlaces::is_world(int64_t definition) {
  const CommDefinition* comm = comm_of(definition);
  return comm != nullptr && is_everybody(*comm);
}

}  // namespace refrain::format
