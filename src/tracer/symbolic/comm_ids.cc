#include "tracer/symbolic/comm_ids.h"

namespace refrain::tracer {

int CommIds::take_member(int family) { return static_cast<int>(members_[family].take()); }

// False: another thread was faster (agree_on_family).
bool CommIds::start_family(int family) {
  if (static_cast<size_t>(family) >= members_.size()) members_.resize(family + 1);
  if (members_[family].any()) return false;
  members_[family].take();
  return true;
}

void CommIds::give_back(int family, int member) {
  members_[family].give_back(static_cast<uint32_t>(member));
}

void CommIds::used_families(uint64_t* mask) const {
  for (int w = 0; w < kMaskWords; ++w) mask[w] = 0;
  for (size_t f = 0; f < members_.size() && f < kMaskFamilies; ++f)
    if (members_[f].any()) mask[f / 64] |= uint64_t{1} << (f % 64);
}

int CommIds::lowest_free(const uint64_t* mask, int start) {
  for (int f = start; f < kMaskFamilies; ++f)
    if ((mask[f / 64] >> (f % 64) & 1) == 0) return f;
  // Behind a start that was chosen at random nothing was free: once more from the beginning.
  return start > kFirst ? lowest_free(mask) : kMaskFamilies;
}

int CommIds::above_all() const {
  // From above, so that families which were given back at the end are used again.
  for (size_t f = members_.size(); f > kMaskFamilies; --f)
    if (members_[f - 1].any()) return static_cast<int>(f);
  return kMaskFamilies;
}

}  // namespace refrain::tracer
