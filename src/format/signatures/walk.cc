#include "format/signatures/walk.h"

#include <utility>

#include "format/signatures/changed_copy.h"
#include "format/signatures/walker.h"

namespace refrain::format {

bool walk_signature(std::string_view bytes, Form form, Visitor& visitor) {
  return walk_with(bytes, form, visitor);
}

namespace {

class Inspector final : public Visitor {
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

class Splitter final : public Visitor {
 public:
  explicit Splitter(std::string_view bytes) : shape_(bytes) {}
  int64_t slot(SlotNature, int64_t v, size_t begin, size_t end) override {
    shape_.leave_out(begin, end);
    values_.push_back(v);
    return v;
  }
  SplitSignature finish() { return {shape_.finish(), std::move(values_)}; }

 private:
  ChangedCopy shape_;
  std::vector<int64_t> values_;
};

class Joiner final : public Visitor {
 public:
  Joiner(std::string_view shape, const std::vector<int64_t>& values)
      : out(shape), values_(values) {}
  int64_t slot(SlotNature nature, int64_t, size_t begin, size_t end) override {
    const int64_t v = used < values_.size() ? values_[used] : 0;
    ++used;
    out.replace(begin, end,
                nature == SlotNature::kInt ? base::zigzag(v) : static_cast<uint64_t>(v));
    return v;
  }
  ChangedCopy out;
  size_t used = 0;

 private:
  const std::vector<int64_t>& values_;
};

class Renumberer final : public Visitor {
 public:
  Renumberer(std::string_view shape, std::span<const uint32_t> map) : out(shape), map_(map) {}
  void request(uint64_t n, size_t begin, size_t end) override {
    if (n >= map_.size()) {
      bad = true;
      return;
    }
    out.replace(begin, end, map_[static_cast<size_t>(n)]);
  }
  ChangedCopy out;
  bool bad = false;

 private:
  std::span<const uint32_t> map_;
};

}  // namespace

std::optional<ShapeInfo> inspect_shape(std::string_view shape) {
  Inspector v;
  if (!walk_with(shape, Form::kSplit, v)) return std::nullopt;
  return std::move(v.info);
}

std::optional<SplitSignature> split_signature(std::string_view inline_form) {
  Splitter v(inline_form);
  if (!walk_with(inline_form, Form::kInline, v)) return std::nullopt;
  return v.finish();
}

std::optional<std::string> join_signature(std::string_view shape,
                                          const std::vector<int64_t>& values) {
  Joiner v(shape, values);
  if (!walk_with(shape, Form::kSplit, v) || v.used != values.size()) return std::nullopt;
  return v.out.finish();
}

std::optional<std::string> renumber_requests(std::string_view shape, std::span<const uint32_t> map,
                                             Form form) {
  Renumberer v(shape, map);
  if (!walk_with(shape, form, v) || v.bad) return std::nullopt;
  return v.out.finish();
}

}  // namespace refrain::format
