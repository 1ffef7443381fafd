#include "tracer/wrap/wrapper_support.h"

#include <algorithm>

#include "mpi/constant_ids.h"
#include "mpi_runtime/constants_table.h"

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

}  // namespace refrain::tracer
