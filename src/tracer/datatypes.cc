// Datatypes: size, extent and the whole construction, so that a reader can compute layouts.
#include <cstring>
#include <vector>

#include "mpi/constant_ids.h"
#include "real_functions.h"
#include "tracer/constants_table.h"
#include "tracer/location.h"
#include "tracer/objects.h"
#include "tracer/wrapper_support.h"

namespace refrain::tracer {

namespace {

struct Shape {
  MPI_Count size = 0, lb = 0, extent = 0;
};

Shape shape_of(MPI_Datatype type) {
  Shape s;
  REFRAIN_REAL(PMPI_Type_size_x)(type, &s.size);
  REFRAIN_REAL(PMPI_Type_get_extent_x)(type, &s.lb, &s.extent);
  return s;
}

void put_shape(base::ByteWriter& payload, const Shape& s) {
  payload.put_zigzag(s.size);
  payload.put_zigzag(s.lb);
  payload.put_zigzag(s.extent);
}

// How a type was made, in numbers wide enough for every MPI.
struct Contents {
  int combiner = 0;
  base::RunList integers, addresses;
  std::vector<MPI_Datatype> types;
};

bool small_contents_of(MPI_Datatype type, Contents& out) {
  int ni = 0, na = 0, nt = 0;
  if (REFRAIN_REAL(PMPI_Type_get_envelope)(type, &ni, &na, &nt, &out.combiner) != MPI_SUCCESS)
    return false;
  if (out.combiner == MPI_COMBINER_NAMED) return true;
  std::vector<int> integers(ni + 1);
  std::vector<MPI_Aint> addresses(na + 1);
  std::vector<MPI_Datatype> types(nt + 1);
  if (REFRAIN_REAL(PMPI_Type_get_contents)(type, ni, na, nt, integers.data(), addresses.data(),
                                           types.data()) != MPI_SUCCESS)
    return false;
  out.types.assign(types.begin(), types.begin() + nt);
  for (int i = 0; i < ni; ++i) out.integers.append(integers[i]);
  for (int i = 0; i < na; ++i) out.addresses.append(addresses[i]);
  return true;
}

#ifdef REFRAIN_HAS_MPI_Type_get_contents_c
bool large_contents_of(MPI_Datatype type, Contents& out) {
  MPI_Count ni = 0, na = 0, nc = 0, nt = 0;
  if (REFRAIN_REAL(PMPI_Type_get_envelope_c)(type, &ni, &na, &nc, &nt, &out.combiner) !=
      MPI_SUCCESS)
    return false;
  if (out.combiner == MPI_COMBINER_NAMED) return true;
  std::vector<int> integers(ni + 1);
  std::vector<MPI_Aint> addresses(na + 1);
  std::vector<MPI_Count> counts(nc + 1);
  out.types.resize(nt);
  std::vector<MPI_Datatype> types(nt + 1);
  if (REFRAIN_REAL(PMPI_Type_get_contents_c)(type, ni, na, nc, nt, integers.data(),
                                             addresses.data(), counts.data(),
                                             types.data()) != MPI_SUCCESS)
    return false;
  out.types.assign(types.begin(), types.begin() + nt);
  for (MPI_Count i = 0; i < ni; ++i) out.integers.append(integers[i]);
  for (MPI_Count i = 0; i < nc; ++i) out.integers.append(counts[i]);
  for (MPI_Count i = 0; i < na; ++i) out.addresses.append(addresses[i]);
  return true;
}
#endif

bool contents_of(MPI_Datatype type, Contents& out) {
#ifdef REFRAIN_HAS_MPI_Type_get_contents_c
  if (has_large_contents()) return large_contents_of(type, out);
#endif
  return small_contents_of(type, out);
}

bool is_named(MPI_Datatype type) {
  int a = 0, b = 0, c = 0, combiner = MPI_COMBINER_NAMED;
  REFRAIN_REAL(PMPI_Type_get_envelope)(type, &a, &b, &c, &combiner);
  return combiner == MPI_COMBINER_NAMED;
}

uint32_t inner_type(Process& p, MPI_Datatype type) {
  const uint64_t key = handle_key(type);
  {
    Process::Guard guard(p);
    const uint32_t def = p.handles.find(Kind::kDatatype, key);
    if (def != HandleMap::kMissing) return def;
  }
  const uint32_t constant = handle_constant(Kind::kDatatype, key);
  if (constant != 0) return define_predefined_datatype(p, key, constant);
  // The program has freed its handle already, or never had one: the definition stays, the id and
  // the handle value, which MPI may hand out again, do not.
  const uint32_t def = define_datatype(p, type);
  Process::Guard guard(p);
  p.forget(Kind::kDatatype, key);
  base::ByteReader payload(p.definition(def).payload);
  p.ids[static_cast<int>(Kind::kDatatype)].give_back(static_cast<uint32_t>(payload.zigzag()));
  return def;
}

}  // namespace

uint32_t define_predefined_datatype(Process& p, uint64_t key, uint32_t constant) {
  if (!p.initialized) return HandleMap::kMissing;  // nothing may be asked of MPI yet
  const auto type = handle_of<MPI_Datatype>(key);
  base::ByteWriter payload;
  payload.put_zigzag(-1);
  payload.put_varint(constant);
  put_shape(payload, shape_of(type));
  Process::Guard guard(p);
  const uint32_t def = p.define(Kind::kDatatype, payload.view());
  p.remember(Kind::kDatatype, key, def);
  return def;
}

uint32_t define_datatype(Process& p, MPI_Datatype type) {
  Contents contents;
  const bool known = contents_of(type, contents);
  std::vector<uint32_t> refs;
  for (MPI_Datatype t : contents.types) {
    refs.push_back(inner_type(p, t));
    // get_contents hands out new references to derived types.
    if (!is_named(t)) REFRAIN_REAL(PMPI_Type_free)(&t);
  }
  const Shape shape = shape_of(type);
  Process::Guard guard(p);
  base::ByteWriter payload;
  payload.put_zigzag(p.ids[static_cast<int>(Kind::kDatatype)].take());
  payload.put_varint(0);
  put_shape(payload, shape);
  payload.put_varint(known ? constant_of(mpi::domain::kCombiner, contents.combiner) : 0);
  contents.integers.write(payload);
  contents.addresses.write(payload);
  const uint32_t def = p.define(Kind::kDatatype, payload.view(), refs.data(), refs.size());
  p.remember(Kind::kDatatype, handle_key(type), def);
  return def;
}

void Encoder::new_datatype(MPI_Datatype type) {
  const uint64_t key = handle_key(type);
  const Captured known = lookup_new(Kind::kDatatype, key);
  if (known.what != Captured::What::kNone) return captured(known);
  captured({Captured::What::kDefinition, define_datatype(*location_.process, type), key});
}

}  // namespace refrain::tracer
