#include "format/merge/signature_list.h"

#include "format/limits.h"
#include "format/merge/duration_bytes.h"

namespace refrain::format {

void SignatureList::write(const PartialSignature& s, base::ByteWriter& out) {
  const bool has_states = !s.slots.empty();
  out.put_varint(s.shape);
  out.put_varint((has_states ? s.slots.size() : s.values.size()) << 1 | (has_states ? 1 : 0));
  if (!has_states) {
    for (const int64_t v : s.values) out.put_zigzag(v);
  }
  for (const SlotState& slot : s.slots) {
    out.put_u8(slot.alive);
    if (slot.alive == 0) {
      slot.values.write(out);
      continue;
    }
    out.put_zigzag(slot.first);
    if ((slot.alive & SlotState::kSlopeFixed) != 0) out.put_zigzag(slot.slope);
  }
  put(out, s.duration);
}

PartialSignature SignatureList::read(base::ByteReader& in, uint64_t max_values) {
  PartialSignature s;
  s.shape = static_cast<uint32_t>(in.varint());
  const uint64_t form = in.varint(), n = form >> 1;
  if (n > kMaxSlots || n > in.remaining()) in.fail();
  if ((form & 1) == 0) {
    s.values.reserve(in.ok() ? n : 0);
    for (uint64_t i = 0; i < n && in.ok(); ++i) s.values.push_back(in.zigzag());
  } else {
    s.slots.reserve(in.ok() ? n : 0);
    for (uint64_t i = 0; i < n && in.ok(); ++i) {
      SlotState& slot = s.slots.emplace_back();
      slot.alive = in.u8();
      if (slot.alive == 0) {
        slot.values = base::NestedRuns::read(in, max_values);
        continue;
      }
      slot.first = in.zigzag();
      if ((slot.alive & SlotState::kSlopeFixed) != 0) slot.slope = in.zigzag();
    }
  }
  s.duration = get_duration(in);
  return s;
}

PartialSignature SignatureList::operator[](size_t terminal) const {
  base::ByteReader in(bytes_[terminal]);
  return read(in, UINT64_MAX);
}

uint32_t SignatureList::shape(size_t terminal) const {
  base::ByteReader in(bytes_[terminal]);
  return static_cast<uint32_t>(in.varint());
}

void SignatureList::push_back(const PartialSignature& s) {
  base::ByteWriter out;
  write(s, out);
  bytes_.push_back(out.view());
}

void SignatureList::write(base::ByteWriter& out) const {
  for (size_t t = 0; t < size(); ++t) out.put_bytes(bytes_[t].data(), bytes_[t].size());
}

}  // namespace refrain::format
