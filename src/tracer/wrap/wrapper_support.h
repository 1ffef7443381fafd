// Functions for generated wrappers in addition to Encoder: parameters whose meaning depends on
// another parameter. Array lengths that only the MPI library knows: mpi_runtime/queries.h.
//
// Laws: called between CallScope::encoder() and commit(), so that MPI calls made here are not
// recorded; functions that ask MPI are used for outputs of calls that succeeded only.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <cstring>
#include <memory>

#include "mpi_runtime/queries.h"
#include "tracer/symbolic/encoder.h"

namespace refrain::tracer {

// A named address of that domain (MPI_ARGV_NULL, MPI_UNWEIGHTED, ...). False: it has no name.
bool encode_named_pointer(Encoder& enc, int domain, const void* p);
// An opaque address of the program: NULL by name, else as a buffer.
void encode_pointer(Encoder& enc, const void* p);
// A callback; domain 0: one without predefined values.
void encode_function(Encoder& enc, int domain, const void* p);
// What MPI_*_get_attr returned: predefined attributes by the number that they point to.
void encode_attribute(Encoder& enc, int keyval, const void* attribute);
void encode_new_datatypes(Encoder& enc, const MPI_Datatype* types, int64_t n);

template <class F>
const void* function_address(F* f) {
  return reinterpret_cast<const void*>(f);
}

// The address that an output parameter declared as void* received.
inline const void* pointer_at(const void* place) {
  const void* value = nullptr;
  std::memcpy(&value, place, sizeof value);
  return value;
}

template <class T>
int64_t sum_of(const T* v, int64_t n) {
  int64_t sum = 0;
  for (int64_t i = 0; v != nullptr && i < n; ++i) sum += static_cast<int64_t>(v[i]);
  return sum;
}

template <class T>
int64_t last_of(const T* v, int64_t n) {
  return v != nullptr && n > 0 ? static_cast<int64_t>(v[n - 1]) : 0;
}

// An inout array of int as it was before the call.
class SavedInts {
 public:
  SavedInts(const int* v, int64_t n);
  const int* data() const { return heap_ ? heap_.get() : inline_; }
  int64_t size() const { return size_; }

 private:
  static constexpr int64_t kInline = 8;
  int64_t size_;
  int inline_[kInline];
  std::unique_ptr<int[]> heap_;
};

// An inout array: its value at exit, and at entry where that differed.
void encode_changed(Encoder& enc, const int* now, const SavedInts& before);

}  // namespace refrain::tracer
