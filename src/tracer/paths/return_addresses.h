// ReturnAddresses: cached facts about return addresses that were found on a stack.
//
// Laws: one per location, so a look-up takes no lock. The facts are valid until a library is
// unloaded; then the owner clears the cache. Budget: 3 ns for an address that is known, 3 us for a
// new one.
#pragma once

#include <cstdint>
#include <vector>

#include "tracer/code/cfa_program.h"

namespace refrain::tracer {

class Process;

struct KnownReturn {
  uintptr_t address = 0;  // 0: a free slot
  FrameRule rule;
  // Code that starts a program: the C library, and the simulation where ranks are its threads.
  bool is_start = false;
  bool is_own = false;  // the recorder's, around an MPI call that calls functions of the program
  bool has_site = false;
  uint32_t site = UINT32_MAX;  // definition of the call site, once has_site
};

class ReturnAddresses {
 public:
  // The reference holds until the next call of this.
  KnownReturn& at(Process& process, uintptr_t address) {
    if (!slots_.empty())
      for (size_t i = slot(address);; ++i) {
        KnownReturn& known = slots_[i & (slots_.size() - 1)];
        if (known.address == address) return known;
        if (known.address == 0) break;
      }
    return add(process, address);
  }
  // Its definition, made when it is asked for.
  static uint32_t site_of(Process& process, KnownReturn& known) {
    if (!known.has_site) define(process, known);
    return known.site;
  }
  void forget() {
    slots_.clear();
    count_ = 0;
  }

 private:
  static constexpr size_t kFirstSlots = 256, kMaxSlots = size_t{1} << 17;

  size_t slot(uintptr_t address) const {
    return static_cast<size_t>(address * 0x9e3779b97f4a7c15u >> 40) & (slots_.size() - 1);
  }
  KnownReturn& add(Process& process, uintptr_t address);
  KnownReturn& put(const KnownReturn& known);
  void grow();
  static void define(Process& process, KnownReturn& known);

  std::vector<KnownReturn> slots_;  // at most half full
  size_t count_ = 0;
};

}  // namespace refrain::tracer
