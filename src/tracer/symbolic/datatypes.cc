// Datatypes: size, extent and the whole construction, so that a reader can compute layouts.
#include <string>
#include <vector>

#include "mpi/constant_ids.h"
#include "mpi_runtime/constants_table.h"
#include "mpi_runtime/datatype_contents.h"
#include "tracer/state/location.h"
#include "tracer/symbolic/objects.h"

namespace refrain::tracer {

namespace {

void put_shape(base::ByteWriter& payload, const TypeShape& s) {
  payload.put_zigzag(s.size);
  payload.put_zigzag(s.lb);
  payload.put_zigzag(s.extent);
}

// One that the program has, or a predefined one. kMissing: another.
uint32_t known_type(Process& p, uint64_t key) {
  {
    Process::Guard guard(p);
    const uint32_t def = p.handles.find(Kind::kDatatype, key);
    if (def != HandleMap::kMissing) return def;
  }
  const uint32_t constant = handle_constant(Kind::kDatatype, key);
  return constant == 0 ? HandleMap::kMissing : define_predefined_datatype(p, key, constant);
}

uint32_t inner_type(Process& p, uint64_t key) {
  if (const uint32_t known = known_type(p, key); known != HandleMap::kMissing) return known;
  // The program has freed its handle already, or never had one: the definition stays, the id and
  // the handle value, which MPI may hand out again, do not.
  const uint32_t def = define_datatype(p, key);
  Process::Guard guard(p);
  p.forget(Kind::kDatatype, key);
  base::ByteReader payload(p.definition(def).payload);
  p.ids[static_cast<int>(Kind::kDatatype)].give_back(static_cast<uint32_t>(payload.zigzag()));
  return def;
}

// What a definition says beside its id.
struct Construction {
  base::ByteWriter content;
  std::vector<uint32_t> refs;
};

// MPI itself tells how the type was made, also for types that came from a library which was not
// recorded. Without the lock: functions of MPI are never called with it (another thread may wait
// for it within MPI).
Construction construction_of(Process& p, uint64_t key, uint32_t (*inner)(Process&, uint64_t)) {
  TypeContents contents;
  const bool known = contents_of(key, contents);
  Construction made;
  for (const uint64_t type : contents.types) {
    made.refs.push_back(inner(p, type));
    // MPI hands out references to inner types, which the caller has to free; predefined ones must
    // not be.
    give_back(type);
  }
  made.content.put_varint(0);
  put_shape(made.content, shape_of(key));
  made.content.put_varint(known ? constant_of(mpi::domain::kCombiner, contents.combiner) : 0);
  contents.integers.write(made.content);
  contents.addresses.write(made.content);
  return made;
}

// The lock is held.
uint32_t define(Process& p, const Construction& made) {
  base::ByteWriter payload;
  payload.put_zigzag(p.ids[static_cast<int>(Kind::kDatatype)].take());
  payload.put_bytes(made.content.view().data(), made.content.view().size());
  return p.define(Kind::kDatatype, payload.view(), made.refs.data(), made.refs.size());
}

// A type that may be gone behind this call, made by nobody whose calls are seen. Equal ones have
// one id, which they keep: a reader takes objects with one id for one object.
uint32_t described_type(Process& p, uint64_t key) {
  if (const uint32_t known = known_type(p, key); known != HandleMap::kMissing) return known;
  const Construction made = construction_of(p, key, described_type);
  std::string content(made.content.view());
  for (const uint32_t ref : made.refs) content.append("/").append(std::to_string(ref));
  Process::Guard guard(p);
  const auto [place, is_new] = p.described_types.try_emplace(content, 0);
  if (is_new) place->second = define(p, made);
  return place->second;
}

}  // namespace

uint32_t define_predefined_datatype(Process& p, uint64_t key, uint32_t constant) {
  if (!p.initialized) return HandleMap::kMissing;  // nothing may be asked of MPI yet
  base::ByteWriter payload;
  // No id: a predefined type is its constant, on every rank.
  payload.put_zigzag(-1);
  payload.put_varint(constant);
  put_shape(payload, shape_of(key));
  Process::Guard guard(p);
  const uint32_t def = p.define(Kind::kDatatype, payload.view());
  p.remember(Kind::kDatatype, key, def);
  return def;
}

uint32_t define_datatype(Process& p, uint64_t key) {
  const Construction made = construction_of(p, key, inner_type);
  Process::Guard guard(p);
  const uint32_t def = define(p, made);
  p.remember(Kind::kDatatype, key, def);
  return def;
}

Captured Encoder::describe_datatype(uint64_t key) {
  if (!location_.process->initialized || !may_be_datatype(key))
    return {Captured::What::kNone, 0, key};
  has_described_ = true;
  return {Captured::What::kDefinition, described_type(*location_.process, key), key};
}

void Encoder::define_new_datatype(uint64_t key) {
  const Captured known = lookup_new(Kind::kDatatype, key);
  if (known.what != Captured::What::kNone) {
    add_reference(Kind::kDatatype, known);
    return captured(known);
  }
  captured({Captured::What::kDefinition, define_datatype(*location_.process, key), key});
}

}  // namespace refrain::tracer
