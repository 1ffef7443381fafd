// Puts a function of the recorder between the wrappers and MPI: they call MPI through the table
// REFRAIN_REAL, and without any such function execute the same instructions as with one.
#pragma once

namespace refrain::tracer {

// Behind this library; null: nowhere.
void* find_behind(const char* name);

// Puts `between` where the wrappers find MPI's function, and that one into *behind. A function that
// the library lacks stays as it is.
template <class F>
void stand_between(F* slot, F* behind, F between, const char* name) {
  F real = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
  if (real == nullptr) real = reinterpret_cast<F>(find_behind(name));
  if (real == nullptr) return;
  *behind = real;
  __atomic_store_n(slot, between, __ATOMIC_RELEASE);
}

}  // namespace refrain::tracer
