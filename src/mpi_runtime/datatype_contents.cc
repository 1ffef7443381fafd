#include "mpi_runtime/datatype_contents.h"

#include <mpi.h>

#include "mpi_runtime/handle_map.h"
#include "mpi_runtime/queries.h"
#include "real_functions.h"

namespace refrain::mpi_runtime {

namespace {

// Room for `count` values, and one where there are none. Most types have a few: those need no heap.
template <class T>
class Room {
 public:
  explicit Room(MPI_Count count) {
    if (static_cast<size_t>(count) > kFew) many_.resize(static_cast<size_t>(count));
  }
  T* data() { return many_.empty() ? few_ : many_.data(); }
  T operator[](MPI_Count i) { return data()[i]; }

 private:
  static constexpr size_t kFew = 8;
  T few_[kFew];
  std::vector<T> many_;
};

void put_types(Room<MPI_Datatype>& types, MPI_Count count, TypeContents& out) {
  for (MPI_Count i = 0; i < count; ++i) out.types.push_back(handle_key(types[i]));
}

bool small_contents_of(MPI_Datatype type, TypeContents& out) {
  int ni = 0, na = 0, nt = 0;
  if (REFRAIN_REAL(PMPI_Type_get_envelope)(type, &ni, &na, &nt, &out.combiner) != MPI_SUCCESS)
    return false;
  if (out.combiner == MPI_COMBINER_NAMED) return true;
  Room<int> integers(ni);
  Room<MPI_Aint> addresses(na);
  Room<MPI_Datatype> types(nt);
  if (REFRAIN_REAL(PMPI_Type_get_contents)(type, ni, na, nt, integers.data(), addresses.data(),
                                           types.data()) != MPI_SUCCESS)
    return false;
  put_types(types, nt, out);
  for (int i = 0; i < ni; ++i) out.integers.append(integers[i]);
  for (int i = 0; i < na; ++i) out.addresses.append(addresses[i]);
  return true;
}

#ifdef REFRAIN_HAS_MPI_Type_get_contents_c
bool large_contents_of(MPI_Datatype type, TypeContents& out) {
  MPI_Count ni = 0, na = 0, nc = 0, nt = 0;
  if (REFRAIN_REAL(PMPI_Type_get_envelope_c)(type, &ni, &na, &nc, &nt, &out.combiner) !=
      MPI_SUCCESS)
    return false;
  if (out.combiner == MPI_COMBINER_NAMED) return true;
  Room<int> integers(ni);
  Room<MPI_Aint> addresses(na);
  Room<MPI_Count> counts(nc);
  Room<MPI_Datatype> types(nt);
  if (REFRAIN_REAL(PMPI_Type_get_contents_c)(type, ni, na, nc, nt, integers.data(),
                                             addresses.data(), counts.data(),
                                             types.data()) != MPI_SUCCESS)
    return false;
  put_types(types, nt, out);
  for (MPI_Count i = 0; i < ni; ++i) out.integers.append(integers[i]);
  for (MPI_Count i = 0; i < nc; ++i) out.integers.append(counts[i]);
  for (MPI_Count i = 0; i < na; ++i) out.addresses.append(addresses[i]);
  return true;
}
#endif

bool is_named(MPI_Datatype type) {
  int a = 0, b = 0, c = 0, combiner = MPI_COMBINER_NAMED;
  REFRAIN_REAL(PMPI_Type_get_envelope)(type, &a, &b, &c, &combiner);
  return combiner == MPI_COMBINER_NAMED;
}

}  // namespace

TypeShape shape_of(uint64_t key) {
  const auto type = handle_of<MPI_Datatype>(key);
  MPI_Count size = 0, lb = 0, extent = 0;
  REFRAIN_REAL(PMPI_Type_size_x)(type, &size);
  REFRAIN_REAL(PMPI_Type_get_extent_x)(type, &lb, &extent);
  return {size, lb, extent};
}

bool contents_of(uint64_t key, TypeContents& out) {
  const auto type = handle_of<MPI_Datatype>(key);
#ifdef REFRAIN_HAS_MPI_Type_get_contents_c
  if (has_large_contents()) return large_contents_of(type, out);
#endif
  return small_contents_of(type, out);
}

void give_back(uint64_t key) {
  auto type = handle_of<MPI_Datatype>(key);
  if (!is_named(type)) REFRAIN_REAL(PMPI_Type_free)(&type);
}

bool may_be_datatype([[maybe_unused]] uint64_t type) {
#if defined(MPICH_VERSION) && !defined(MPI_ABI_VERSION)
  // The two highest bits say how a handle is stored (1: predefined), the four behind them of what.
  const auto handle = static_cast<uint32_t>(type);
  return handle >> 30 >= 2 && (handle >> 26 & 0xf) == (static_cast<uint32_t>(MPI_CHAR) >> 26 & 0xf);
#else
  return false;
#endif
}

}  // namespace refrain::mpi_runtime
