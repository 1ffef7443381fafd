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
  known.facts.is_start = is_start_code(p, address);
  known.facts.is_own = p.code.is_own(address);
  if (2 * (count_ + 1) > slots_.size()) grow();
  ++count_;
  return put(known);
}

KnownReturn& ReturnAddresses::put(const KnownReturn& known) {
  size_t i = slot(known.address);
  while (table_[i & mask_].address != 0) ++i;
  return table_[i & mask_] = known;
}

// Code that is made while it runs could fill any table: one that is large enough begins anew.
void ReturnAddresses::grow() {
  const size_t more = slots_.empty() ? kFirstSlots : 2 * slots_.size();
  if (more > kMaxSlots) return use(std::vector<KnownReturn>(kFirstSlots));
  const std::vector<KnownReturn> before = std::move(slots_);
  const size_t count = count_;
  use(std::vector<KnownReturn>(more));
  count_ = count;
  for (const KnownReturn& known : before)
    if (known.address != 0) put(known);
}

void ReturnAddresses::use(std::vector<KnownReturn> slots) {
  slots_ = std::move(slots);
  table_ = slots_.empty() ? &none_ : slots_.data();
  mask_ = slots_.empty() ? 0 : slots_.size() - 1;
  count_ = 0;
}

void ReturnAddresses::define(Process& p, KnownReturn& known) {
  known.facts.site = p.define_site(known.address);
  known.facts.has_site = true;
}

}  // namespace refrain::tracer
