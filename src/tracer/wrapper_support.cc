#include "tracer/wrapper_support.h"

#include <dlfcn.h>

#include <algorithm>

#include "mpi/constant_ids.h"
#include "real_functions.h"
#include "tracer/constants_table.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // MPI_HOST: programs still ask

namespace refrain::tracer {

namespace domain = mpi::domain;

bool encode_named_pointer(Encoder& enc, int domain, const void* p) {
  const uint32_t id = constant_of(domain, reinterpret_cast<intptr_t>(p));
  if (id == 0) return false;
  enc.constant(id);
  return true;
}

void encode_pointer(Encoder& enc, const void* p) {
  if (p == nullptr) return enc.constant(mpi::kConst_NULL);
  enc.buffer(p);
}

void encode_function(Encoder& enc, int domain, const void* p) {
  if (domain != 0 && encode_named_pointer(enc, domain, p)) return;
  enc.function(p);
}

namespace {

// What a predefined attribute points to; the others hold what the program put there.
enum class AttributeValue { kProgram, kInt, kAint, kAddress, kFlavor, kModel };

AttributeValue attribute_value(int keyval) {
  switch (keyval) {
    case MPI_TAG_UB:
    case MPI_HOST:
#ifndef REFRAIN_SMPI
    case MPI_IO:
#endif
    case MPI_WTIME_IS_GLOBAL:
    case MPI_UNIVERSE_SIZE:
    case MPI_LASTUSEDCODE:
    case MPI_APPNUM: return AttributeValue::kInt;
#ifdef REFRAIN_SMPI
      // Attributes of windows have the numbers of those of communicators, whose meaning they get
      // here; this one may be any address.
      static_assert(MPI_WIN_BASE == MPI_IO);
#else
    case MPI_WIN_DISP_UNIT: return AttributeValue::kInt;
    case MPI_WIN_SIZE: return AttributeValue::kAint;
    case MPI_WIN_BASE: return AttributeValue::kAddress;
    case MPI_WIN_CREATE_FLAVOR: return AttributeValue::kFlavor;
    case MPI_WIN_MODEL: return AttributeValue::kModel;
#endif
    default: return AttributeValue::kProgram;
  }
}

template <class T>
T number_at(const void* place) {
  T value{};
  std::memcpy(&value, place, sizeof value);
  return value;
}

}  // namespace

void encode_attribute(Encoder& enc, int keyval, const void* attribute) {
  const void* const value = pointer_at(attribute);
  const AttributeValue what = value == nullptr ? AttributeValue::kProgram : attribute_value(keyval);
  switch (what) {
    case AttributeValue::kInt: {
      const int number = number_at<int>(value);
      // MPI_HOST and MPI_IO hold ranks.
      return keyval == MPI_HOST || keyval == MPI_IO ? enc.rank(number) : enc.integer(number);
    }
    case AttributeValue::kAint: return enc.integer(number_at<MPI_Aint>(value));
    case AttributeValue::kFlavor: return enc.named(domain::kWinFlavor, number_at<int>(value));
    case AttributeValue::kModel: return enc.named(domain::kWinModel, number_at<int>(value));
    case AttributeValue::kAddress:
    case AttributeValue::kProgram: return encode_pointer(enc, value);
  }
}

void encode_new_datatypes(Encoder& enc, const MPI_Datatype* types, int64_t n) {
  enc.begin_array(n);
  for (int64_t i = 0; i < n; ++i) {
    enc.begin_element();
    enc.new_datatype(types[i]);
    enc.end_element();
  }
  enc.end_array();
}

SavedInts::SavedInts(const int* v, int64_t n) : size_(v != nullptr && n > 0 ? n : 0) {
  if (size_ > kInline) heap_ = std::make_unique<int[]>(static_cast<size_t>(size_));
  std::copy_n(v, size_, heap_ ? heap_.get() : inline_);
}

void encode_changed(Encoder& enc, const int* now, const SavedInts& before) {
  if (now == nullptr) return enc.none();
  const bool differs = !std::equal(now, now + before.size(), before.data());
  if (differs) enc.tag_byte(Tag::kChanged);
  enc.int_array(now, before.size());
  if (differs) enc.int_array(before.data(), before.size());
}

int64_t local_size(MPI_Comm comm) {
  int size = 0;
  return REFRAIN_REAL(PMPI_Comm_size)(comm, &size) == MPI_SUCCESS ? size : 0;
}

int64_t graph_nodes(MPI_Comm comm) {
  int nodes = 0, edges = 0;
  return REFRAIN_REAL(PMPI_Graphdims_get)(comm, &nodes, &edges) == MPI_SUCCESS ? nodes : 0;
}

int64_t graph_edges(MPI_Comm comm) {
  int nodes = 0, edges = 0;
  return REFRAIN_REAL(PMPI_Graphdims_get)(comm, &nodes, &edges) == MPI_SUCCESS ? edges : 0;
}

int64_t graph_degree(MPI_Comm comm, int rank) {
  int degree = 0;
  return REFRAIN_REAL(PMPI_Graph_neighbors_count)(comm, rank, &degree) == MPI_SUCCESS ? degree : 0;
}

// The library that runs may be older than the mpi.h of the build.
bool has_large_contents() {
  static const bool has = dlsym(RTLD_NEXT, "PMPI_Type_get_contents_c") != nullptr;
  return has;
}

namespace {

struct Envelope {
  int64_t integers = 0, addresses = 0, large_counts = 0, datatypes = 0;
};

// With the counts that the large-count functions report where there are such functions.
Envelope large_envelope(MPI_Datatype type) {
#ifdef REFRAIN_HAS_MPI_Type_get_envelope_c
  MPI_Count integers = 0, addresses = 0, large = 0, datatypes = 0;
  int combiner = 0;
  if (has_large_contents() &&
      REFRAIN_REAL(PMPI_Type_get_envelope_c)(type, &integers, &addresses, &large, &datatypes,
                                             &combiner) == MPI_SUCCESS)
    return {integers, addresses, large, datatypes};
#else
  (void)type;
#endif
  return {};
}

Envelope envelope(MPI_Datatype type) {
  int integers = 0, addresses = 0, datatypes = 0, combiner = 0;
  if (REFRAIN_REAL(PMPI_Type_get_envelope)(type, &integers, &addresses, &datatypes, &combiner) ==
      MPI_SUCCESS)
    return {integers, addresses, 0, datatypes};
  return large_envelope(type);
}

}  // namespace

int64_t envelope_integers(MPI_Datatype type) { return envelope(type).integers; }
int64_t envelope_addresses(MPI_Datatype type) { return envelope(type).addresses; }
int64_t envelope_datatypes(MPI_Datatype type) { return envelope(type).datatypes; }
int64_t envelope_large_counts(MPI_Datatype type) { return large_envelope(type).large_counts; }

}  // namespace refrain::tracer
