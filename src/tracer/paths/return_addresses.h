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

struct ReturnFacts {
  uint32_t site = UINT32_MAX;  // definition of the call site, once has_site
  bool has_site = false;
  // Code that starts a program: the C library, and the simulation where ranks are its threads.
  bool is_start = false;
  bool is_own = false;  // the recorder's, around an MPI call that calls functions of the program
};
struct KnownReturn {
  uintptr_t address = 0;  // 0: a free slot
  FrameRule rule;
  ReturnFacts facts;
};
static_assert(sizeof(KnownReturn) == 32, "its place in the table is a shift");

class ReturnAddresses {
 public:
  ReturnAddresses() = default;
  ReturnAddresses(const ReturnAddresses&) = delete;
  ReturnAddresses& operator=(const ReturnAddresses&) = delete;
  // The reference holds until the next call of this.
  KnownReturn& at(Process& process, uintptr_t address) {
    for (size_t i = slot(address);; ++i) {
      KnownReturn& known = table_[i & mask_];
      if (known.address == address) return known;
      if (known.address == 0) return add(process, address);
    }
  }
  // Its definition, made when it is asked for.
  static uint32_t site_of(Process& process, KnownReturn& known) {
    if (!known.facts.has_site) define(process, known);
    return known.facts.site;
  }
  void forget() { use({}); }

 private:
  static constexpr size_t kFirstSlots = 256, kMaxSlots = size_t{1} << 17;

  static size_t slot(uintptr_t address) {
    return static_cast<size_t>(address * 0x9e3779b97f4a7c15u >> 40);
  }
  KnownReturn& add(Process& process, uintptr_t address);
  KnownReturn& put(const KnownReturn& known);
  void use(std::vector<KnownReturn> slots);
  void grow();
  static void define(Process& process, KnownReturn& known);

  std::vector<KnownReturn> slots_;  // a power of two, at most half full
  KnownReturn none_;
  KnownReturn* table_ = &none_;  // where the slots are; without any a free one
  size_t mask_ = 0;
  size_t count_ = 0;
};

}  // namespace refrain::tracer
