#include "format/signatures/walk.h"

#include <utility>

#include "base/nested_runs.h"

namespace refrain::format {

namespace {

using base::ByteReader;

class Walker {
 public:
  Walker(std::string_view bytes, Form form, Visitor& visitor)
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
      if (!count(&repeat) || repeat == 0 || repeat > left || scale > kMaxSignatureValues / repeat)
        return false;
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

  ByteReader in_;
  const Form form_;
  Visitor& visitor_;
  uint64_t spent_ = 0;
  uint32_t slots_ = 0;
};

}  // namespace

bool walk_signature(std::string_view bytes, Form form, Visitor& visitor) {
  return bytes.size() <= kMaxSignatureBytes && Walker(bytes, form, visitor).run();
}

namespace {

class Inspector : public Visitor {
 public:
  void call(uint32_t id) override { info.call_id = id; }
  void open(FieldTag tag) override { tag_ = tag; }
  int64_t slot(SlotNature nature, int64_t v, size_t, size_t) override {
    if (tag_ == FieldTag::kObject)
      info.object_slots.push_back(static_cast<uint32_t>(info.slots.size()));
    info.slots.push_back(nature);
    return v;
  }
  void request(uint64_t n, size_t, size_t) override {
    info.requests.push_back(static_cast<uint32_t>(n));
  }
  ShapeInfo info;

 private:
  FieldTag tag_ = FieldTag::kNone;
};

class Splitter : public Visitor {
 public:
  explicit Splitter(std::string_view bytes) : bytes_(bytes) {}
  int64_t slot(SlotNature, int64_t v, size_t begin, size_t end) override {
    out.shape.append(bytes_.substr(copied_, begin - copied_));
    copied_ = end;
    out.values.push_back(v);
    return v;
  }
  void finish() { out.shape.append(bytes_.substr(copied_)); }
  SplitSignature out;

 private:
  std::string_view bytes_;
  size_t copied_ = 0;
};

class Joiner : public Visitor {
 public:
  Joiner(std::string_view shape, const std::vector<int64_t>& values)
      : shape_(shape), values_(values) {}
  int64_t slot(SlotNature nature, int64_t, size_t begin, size_t) override {
    out.put_bytes(shape_.data() + copied_, begin - copied_);
    copied_ = begin;
    const int64_t v = used < values_.size() ? values_[used] : 0;
    ++used;
    if (nature == SlotNature::kInt) {
      out.put_zigzag(v);
    } else {
      out.put_varint(static_cast<uint64_t>(v));
    }
    return v;
  }
  void finish() { out.put_bytes(shape_.data() + copied_, shape_.size() - copied_); }
  base::ByteWriter out;
  size_t used = 0;

 private:
  std::string_view shape_;
  const std::vector<int64_t>& values_;
  size_t copied_ = 0;
};

class Renumberer : public Visitor {
 public:
  Renumberer(std::string_view shape, std::span<const uint32_t> map) : shape_(shape), map_(map) {}
  void request(uint64_t n, size_t begin, size_t end) override {
    if (n >= map_.size()) {
      bad = true;
      return;
    }
    out.put_bytes(shape_.data() + copied_, begin - copied_);
    out.put_varint(map_[static_cast<size_t>(n)]);
    copied_ = end;
  }
  void finish() { out.put_bytes(shape_.data() + copied_, shape_.size() - copied_); }
  base::ByteWriter out;
  bool bad = false;

 private:
  std::string_view shape_;
  std::span<const uint32_t> map_;
  size_t copied_ = 0;
};

}  // namespace

std::optional<ShapeInfo> inspect_shape(std::string_view shape) {
  Inspector v;
  if (!walk_signature(shape, Form::kSplit, v)) return std::nullopt;
  return std::move(v.info);
}

std::optional<SplitSignature> split_signature(std::string_view inline_form) {
  Splitter v(inline_form);
  if (!walk_signature(inline_form, Form::kInline, v)) return std::nullopt;
  v.finish();
  return std::move(v.out);
}

std::optional<std::string> join_signature(std::string_view shape,
                                          const std::vector<int64_t>& values) {
  Joiner v(shape, values);
  if (!walk_signature(shape, Form::kSplit, v) || v.used != values.size()) return std::nullopt;
  v.finish();
  return v.out.take();
}

std::optional<std::string> renumber_requests(std::string_view shape, std::span<const uint32_t> map,
                                             Form form) {
  Renumberer v(shape, map);
  if (!walk_signature(shape, form, v) || v.bad) return std::nullopt;
  v.finish();
  return v.out.take();
}

}  // namespace refrain::format
