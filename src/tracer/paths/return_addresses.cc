#include "tracer/paths/return_addresses.h"

#include <utility>

#include "tracer/code/frame_rules.h"
#include "tracer/state/process.h"

namespace refrain::tracer {

namespace {

bool is_start_code(Process& p, uintptr_t address) {
#ifdef REFRAIN_SMPI
  if (p.code.is_mpi(address)) return true;
#endif
  return p.code.is_system(address);
}

}  // namespace

KnownReturn& ReturnAddresses::add(Process& p, uintptr_t address) {
  KnownReturn known;
  known.address = address;
  known.rule = find_frame_rule(address);
  known.is_start = is_start_code(p, address);
  known.is_own = p.code.is_own(address);
  if (2 * (count_ + 1) > slots_.size()) grow();
  ++count_;
  return put(known);
}

KnownReturn& ReturnAddresses::put(const KnownReturn& known) {
  size_t i = slot(known.address);
  while (slots_[i & (slots_.size() - 1)].address != 0) ++i;
  return slots_[i & (slots_.size() - 1)] = known;
}

// Code that is made while it runs could fill any table: one that is large enough begins anew.
void ReturnAddresses::grow() {
  const size_t more = slots_.empty() ? kFirstSlots : 2 * slots_.size();
  std::vector<KnownReturn> before(more > kMaxSlots ? kFirstSlots : more);
  before.swap(slots_);
  if (more > kMaxSlots) {
    count_ = 0;
    return;
  }
  for (const KnownReturn& known : before)
    if (known.address != 0) put(known);
}

void ReturnAddresses::define(Process& p, KnownReturn& known) {
  known.site = p.define_site(known.address);
  known.has_site = true;
}

}  // namespace refrain::tracer
