// The walk of walk.h, compiled for one visitor: one whose class is final costs no virtual calls.
// For walks over all signatures of a trace, of which single ones may have tens of thousands of
// requests.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "base/nested_runs.h"
#include "format/limits.h"
#include "format/signatures/signature.h"
#include "format/signatures/walk.h"

namespace refrain::format {

template <class V>
class Walker {
 public:
  Walker(std::string_view bytes, Form form, V& visitor)
      : in_(bytes), form_(form), visitor_(visitor) {}

  bool run() {
    const uint64_t call = in_.varint();
    if (!in_.ok() || call > kMaxCallId) return false;
    visitor_.call(static_cast<uint32_t>(call));
    if (!field(0, 1)) return false;  // site
    while (!in_.at_end()) {
      if (!field(0, 1)) return false;
    }
    return in_.ok();
  }

 private:
  bool good() const { return in_.ok(); }

  // Counts the values that a field stands for; `scale` is the product of the run lengths around it.
  bool spend(uint64_t scale, uint64_t count = 1) {
    if (count != 0 && scale > (kMaxSignatureValues - spent_) / count) return false;
    spent_ += scale * count;
    return true;
  }

  bool slot(SlotNature nature) {
    if (++slots_ > kMaxSlots) return false;
    const size_t begin = in_.position();
    int64_t v = 0;
    if (form_ == Form::kInline) {
      if (nature == SlotNature::kInt) {
        v = in_.zigzag();
      } else {
        const uint64_t def = in_.varint();
        if (def > kMaxDefinitions) return false;
        v = static_cast<int64_t>(def);
      }
    }
    if (!good()) return false;
    visitor_.value(nature, visitor_.slot(nature, v, begin, in_.position()));
    return true;
  }
  bool ints(int n) {
    for (int i = 0; i < n; ++i) {
      if (!slot(SlotNature::kInt)) return false;
    }
    return true;
  }
  bool number(uint64_t limit, uint64_t* out = nullptr) {
    const uint64_t n = in_.varint();
    if (!good() || n > limit) return false;
    visitor_.number(n);
    if (out != nullptr) *out = n;
    return true;
  }
  bool text() {
    const std::string_view s = in_.string(kMaxSignatureBytes);
    if (good()) visitor_.text(s);
    return good();
  }
  bool request() {
    const size_t begin = in_.position();
    const uint64_t n = form_ == Form::kFile ? visitor_.request_in_file() : in_.varint();
    if (!good() || n >= kMaxSignatures) return false;
    visitor_.request(n, begin, in_.position());
    return true;
  }
  bool fields(int n, int depth, uint64_t scale) {
    for (int i = 0; i < n; ++i) {
      if (!field(depth + 1, scale)) return false;
    }
    return true;
  }
  // A number of elements, which is not in the bytes of the file's form when it is large.
  bool count(uint64_t* n) {
    const size_t begin = in_.position();
    const uint64_t stands = in_.varint();
    if (good()) *n = visitor_.count(stands, begin, in_.position());
    return good() && *n <= kMaxSignatureValues;
  }
  bool array(int depth, uint64_t scale) {
    uint64_t left = 0;
    if (!count(&left)) return false;
    visitor_.number(left);
    while (left > 0) {
      uint64_t repeat = 0;
      if (!count(&repeat) || repeat == 0 || repeat > left) return false;
      if (repeat != 1 && scale > kMaxSignatureValues / repeat) return false;
      visitor_.repeat(repeat);
      if (!field(depth + 1, scale * repeat)) return false;
      left -= repeat;
    }
    return true;
  }
  bool matched_array(int depth, uint64_t scale) {
    uint64_t n = 0;
    if (!count(&n) || n > in_.remaining()) return false;
    visitor_.number(n);
    for (uint64_t i = 0; i < n; ++i) {
      if (!field(depth + 1, scale)) return false;
    }
    return true;
  }
  bool int_runs(uint64_t scale) {
    uint64_t left = 0;
    if (!number(kMaxSignatureValues, &left) || !spend(scale, left)) return false;
    while (left > 0) {
      uint64_t count = 0;
      if (!number(left, &count) || count == 0 || !ints(2)) return false;
      left -= count;
    }
    return true;
  }
  // Items take a byte each at least, so the bytes bound the loop.
  bool int_list(int depth, uint64_t scale) {
    uint64_t items = 0;
    if (depth > base::NestedRuns::kMaxDepth || !number(in_.remaining(), &items)) return false;
    for (uint64_t i = 0; i < items; ++i) {
      const uint8_t is_loop = in_.u8();
      if (!good() || is_loop > 1 || !spend(scale)) return false;
      visitor_.number(is_loop);
      if (!ints(is_loop != 0 ? 2 : 3)) return false;
      if (is_loop != 0 && !int_list(depth + 1, scale)) return false;
    }
    return true;
  }
  bool pairs(uint64_t scale) {
    uint64_t n = 0;
    // The slots of one range take no bytes in split form, so the limit on slots bounds the loop.
    if (!number(kMaxSlots / 3, &n) || !spend(scale, n)) return false;
    for (uint64_t i = 0; i < n; ++i) {
      if (!ints(3)) return false;
    }
    return true;
  }
  bool bits() {
    uint64_t n = 0;
    if (!number(UINT64_MAX) || !number(64, &n)) return false;
    for (uint64_t i = 0; i < n; ++i) {
      if (!number(UINT32_MAX)) return false;
    }
    return true;
  }
  bool buffer() {
    const uint8_t kind = in_.u8();
    if (!good() || kind > static_cast<uint8_t>(BufferClass::kPinned)) return false;
    visitor_.number(kind);
    return ints(kind == static_cast<uint8_t>(BufferClass::kDevice) ? 3 : 2);
  }

  bool field(int depth, uint64_t scale) {
    if (depth > static_cast<int>(kMaxFieldDepth) || !spend(scale)) return false;
    const size_t begin = in_.position();
    const auto tag = static_cast<FieldTag>(in_.u8());
    if (!good()) return false;
    visitor_.open(tag);
    if (!body(tag, depth, scale)) return false;
    visitor_.close(tag);
    visitor_.field_bytes(tag, begin, in_.position());
    return true;
  }

  bool body(FieldTag tag, int depth, uint64_t scale) {
    switch (tag) {
      case FieldTag::kNone:
      case FieldTag::kStatusAsPosted:
      case FieldTag::kStatusEmpty: return true;
      case FieldTag::kInt: return slot(SlotNature::kInt);
      case FieldTag::kConst: return number(UINT32_MAX);
      case FieldTag::kObject:
      case FieldTag::kFunction: return slot(SlotNature::kDefinition);
      case FieldTag::kRequest: return request();
      case FieldTag::kNewRequest: return number(UINT32_MAX);
      case FieldTag::kBuffer: return buffer();
      case FieldTag::kString:
      case FieldTag::kBytes: return text();
      case FieldTag::kStatus:
      case FieldTag::kMatched:
      case FieldTag::kChanged: return fields(2, depth, scale);
      case FieldTag::kStatusError: return fields(3, depth, scale);
      case FieldTag::kMatchedArray: return matched_array(depth, scale);
      case FieldTag::kArray: return array(depth, scale);
      case FieldTag::kIntRuns: return int_runs(scale);
      case FieldTag::kBits: return bits();
      case FieldTag::kResult: return depth == 0 && fields(1, depth, scale) && in_.at_end();
      case FieldTag::kPairArray: return pairs(scale);
      case FieldTag::kIntList: return int_list(1, scale);
    }
    return false;
  }

  base::ByteReader in_;
  const Form form_;
  V& visitor_;
  uint64_t spent_ = 0;
  uint32_t slots_ = 0;
};

// As walk_signature().
template <class V>
bool walk_with(std::string_view bytes, Form form, V& visitor) {
  return bytes.size() <= kMaxSignatureBytes && Walker<V>(bytes, form, visitor).run();
}

}  // namespace refrain::format
