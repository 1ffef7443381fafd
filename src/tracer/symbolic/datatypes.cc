// Datatypes: size, extent and the whole construction, so that a reader can compute layouts.
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

// Of a type that may be gone behind this call.
uint32_t inner_type(Process& p, uint64_t key) {
  {
    Process::Guard guard(p);
    const uint32_t def = p.handles.find(Kind::kDatatype, key);
    if (def != HandleMap::kMissing) return def;
  }
  const uint32_t constant = handle_constant(Kind::kDatatype, key);
  if (constant != 0) return define_predefined_datatype(p, key, constant);
  // The program has freed its handle already, or never had one: the definition stays, the id and
  // the handle value, which MPI may hand out again, do not.
  const uint32_t def = define_datatype(p, key);
  Process::Guard guard(p);
  p.forget(Kind::kDatatype, key);
  base::ByteReader payload(p.definition(def).payload);
  p.ids[static_cast<int>(Kind::kDatatype)].give_back(static_cast<uint32_t>(payload.zigzag()));
  return def;
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
  TypeContents contents;
  // MPI itself tells how the type was made, also for types that came from a library which was not
  // recorded. Asked once for each type, when it is made or first met.
  const bool known = contents_of(key, contents);
  std::vector<uint32_t> refs;
  for (const uint64_t type : contents.types) {
    refs.push_back(inner_type(p, type));
    // MPI hands out references to inner types, which the caller has to free; predefined ones must
    // not be.
    give_back(type);
  }
  // Before the lock: functions of MPI are never called with it (another thread may wait for it
  // within MPI).
  const TypeShape shape = shape_of(key);
  Process::Guard guard(p);
  base::ByteWriter payload;
  payload.put_zigzag(p.ids[static_cast<int>(Kind::kDatatype)].take());
  payload.put_varint(0);
  put_shape(payload, shape);
  payload.put_varint(known ? constant_of(mpi::domain::kCombiner, contents.combiner) : 0);
  contents.integers.write(payload);
  contents.addresses.write(payload);
  const uint32_t def = p.define(Kind::kDatatype, payload.view(), refs.data(), refs.size());
  p.remember(Kind::kDatatype, key, def);
  return def;
}

Captured Encoder::describe_datatype(uint64_t key) {
  if (!location_.process->initialized || !may_be_datatype(key))
    return {Captured::What::kNone, 0, key};
  return {Captured::What::kDefinition, inner_type(*location_.process, key), key};
}

void Encoder::define_new_datatype(uint64_t key) {
  const Captured known = lookup_new(Kind::kDatatype, key);
  if (known.what != Captured::What::kNone) return captured(known);
  captured({Captured::What::kDefinition, define_datatype(*location_.process, key), key});
}

}  // namespace refrain::tracer
