// LoadedCode: finds the module of an address among all modules that the process has loaded.
//
// Laws: a look-up takes a lock only if the address is in no known module; then the loader is asked
// again. The loader is asked for functions without holding a lock of the recorder: a library whose
// constructor runs under the loader's lock may call MPI and wait for the recorder's lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "tracer/code/addresses.h"

namespace refrain::tracer {

class LoadedCode {
 public:
  // What the loader has now.
  void refresh();
  // A library was unloaded: addresses in it belong to nothing, or to what was loaded since.
  void forget_unloaded();

  // What holds the address; null: nothing that was loaded.
  const Segment* segment_at(uintptr_t address);
  const Module* module_at(uintptr_t address);
  // The same of what was known before, without asking the loader.
  const Segment* known_segment(uintptr_t address, AddressMap::Hint& last) const {
    return addresses_.find(address, last);
  }
  // Whether code at `address` is the recorder's.
  bool is_own(uintptr_t address);
  // Whether it belongs to the C library or the dynamic linker.
  bool is_system(uintptr_t address);
  // Whether it belongs to the MPI library (or to the recorder) and not to the program.
  bool is_mpi(uintptr_t address);
  // What holds the code of a Python interpreter; null: there is none, or nobody wants its frames.
  const Module* interpreter() const { return interpreter_.load(std::memory_order_relaxed); }

 private:
  AddressMap addresses_;
  std::mutex mutex_;      // of who changes them
  uint32_t unloads_ = 0;  // that `addresses_` knows of
  std::atomic<const Module*> interpreter_{nullptr};
};

}  // namespace refrain::tracer
