// LoadedCode: whose code is at an address, among all that the process has loaded.
//
// Laws: asking takes no lock but where an address is in nothing that is known: then the loader is
// asked again. It is asked for functions without a lock of ours: a library that is being loaded,
// which has the loader's, may call MPI and wait for ours.
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
