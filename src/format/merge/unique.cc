#include "format/merge/unique.h"

#include <string>
#include <utility>

#include "format/codes/checksum.h"
#include "format/signatures/walk.h"

namespace refrain::format {

bool UniqueSignatures::add(std::string_view signature) {
  std::optional<std::string> renumbered;
  if (!is_identity_) {
    // A request is named by the number of the signature that made it. As soon as one signature was
    // met twice, numbers are no longer positions.
    renumbered = renumber_requests(signature, numbers_, Form::kInline);
    if (!renumbered) return false;
    signature = *renumbered;
  }
  // At most half full, so that a search ends soon; slots hold 1 + index, 0 is free. Not
  // std::unordered_map: a program whose calls never repeat has millions, at tens of bytes each.
  if (2 * signatures_.size() >= slots_.size()) grow();
  uint32_t& slot = slot_of(signature);
  if (slot == 0) {
    signatures_.push_back(signature);
    slot = static_cast<uint32_t>(signatures_.size());
  } else {
    is_identity_ = false;
  }
  numbers_.push_back(slot - 1);
  return true;
}

ByteStrings UniqueSignatures::take() {
  // The memory is given back now: what follows needs it.
  std::vector<uint32_t>().swap(slots_);
  return std::exchange(signatures_, ByteStrings());
}

uint32_t& UniqueSignatures::slot_of(std::string_view bytes) {
  const size_t mask = slots_.size() - 1;
  size_t i = hash64(bytes.data(), bytes.size()) & mask;
  while (slots_[i] != 0 && signatures_[slots_[i] - 1] != bytes) i = (i + 1) & mask;
  return slots_[i];
}

void UniqueSignatures::grow() {
  constexpr size_t kFirst = 64;
  slots_.assign(slots_.empty() ? kFirst : 2 * slots_.size(), 0);
  for (uint32_t i = 0; i < signatures_.size(); ++i) slot_of(signatures_[i]) = i + 1;
}

}  // namespace refrain::format
