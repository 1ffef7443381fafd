// The tree of a call's fields: parse_fields() of walk.h.
#include <algorithm>
#include <utility>

#include "format/signatures/walker.h"

namespace refrain::format {

namespace {

// Builds the tree. The open fields are the path from a root to the one being filled, kept by value,
// so that growing a parent's children cannot leave a dangling pointer.
class TreeBuilder final : public Visitor {
 public:
  explicit TreeBuilder(const std::vector<int64_t>& values) : values_(values) {}
  void call(uint32_t id) override { out.call_id = id; }
  void open(FieldTag tag) override {
    Field f;
    f.tag = tag;
    f.repeat = std::exchange(repeat_, 1);
    path_.push_back(std::move(f));
    part_ = 0;
  }
  void close(FieldTag tag) override {
    Field f = std::move(path_.back());
    path_.pop_back();
    if (tag == FieldTag::kIntList) expand(f);
    if (!path_.empty()) {
      path_.back().children.push_back(std::move(f));
    } else if (!has_site_) {
      out.site = std::move(f);
      has_site_ = true;
    } else if (f.tag == FieldTag::kResult) {
      out.result = std::move(f.children.front());
    } else {
      out.parameters.push_back(std::move(f));
    }
  }
  int64_t slot(SlotNature, int64_t, size_t, size_t) override {
    return used < values_.size() ? values_[used++] : (++used, 0);
  }
  void value(SlotNature, int64_t v) override {
    Field& f = path_.back();
    switch (f.tag) {
      case FieldTag::kObject:
      case FieldTag::kFunction: f.number = static_cast<uint64_t>(v); break;
      case FieldTag::kBuffer:
        (part_ == 0 ? f.value : part_ == 1 ? f.offset_bytes : f.device) = v;
        ++part_;
        break;
      case FieldTag::kIntRuns: (part_++ == 0 ? f.runs.back().start : f.runs.back().step) = v; break;
      case FieldTag::kIntList: list_.push_back(v); break;
      case FieldTag::kPairArray:
        if (part_ == 0) f.ranges.emplace_back();
        f.ranges.back()[part_] = v;
        part_ = (part_ + 1) % 3;
        break;
      default: f.value = v; break;
    }
  }
  void number(uint64_t n) override {
    Field& f = path_.back();
    if (f.tag == FieldTag::kBuffer) {
      f.buffer_class = static_cast<BufferClass>(n);
    } else if (f.tag == FieldTag::kIntRuns && numbers_seen(f)) {
      f.runs.push_back(IntRun{n, 0, 0});
      part_ = 0;
    } else if (f.tag == FieldTag::kIntList) {
      list_.push_back(static_cast<int64_t>(n));
    } else if (f.tag == FieldTag::kBits) {
      bits_number(f, n);
    } else {
      f.number = n;
      if (f.tag == FieldTag::kIntRuns) part_ = 1;  // the total came, runs follow
    }
  }
  void request(uint64_t n, size_t, size_t) override { path_.back().number = n; }
  void text(std::string_view s) override { path_.back().text = s; }
  void repeat(uint64_t n) override { repeat_ = n; }

  CallFields out;
  size_t used = 0;

 private:
  bool numbers_seen(const Field& f) const { return !f.runs.empty() || part_ == 1; }
  void bits_number(Field& f, uint64_t n) {
    if (part_ == 0) f.number = n;  // mask, then how many
    if (part_ >= 2) f.constants.push_back(static_cast<uint32_t>(n));
    ++part_;
  }

  // Fills in the runs of an int_list, whose numbers are in list_ by now. Counts are values of the
  // rank, so nothing is known of them: what passes the limits is left out.
  void expand(Field& f) {
    f.tag = FieldTag::kIntRuns;
    f.number = 0;
    size_t at = 0;
    items_left_ = list_.size() + kMaxRepeatedRuns;
    expand_items(f, at, 0);
    list_.clear();
  }
  void expand_items(Field& f, size_t& at, uint64_t offset) {
    const int64_t items = list_[at++];
    for (int64_t i = 0; i < items; ++i) {
      const bool is_loop = list_[at++] != 0;
      const uint64_t start = is_loop ? 0 : static_cast<uint64_t>(list_[at++]) + offset;
      const auto step = static_cast<uint64_t>(list_[at]);
      const auto count = static_cast<uint64_t>(std::max<int64_t>(list_[at + 1], 0));
      at += 2;
      const size_t body = at;
      if (is_loop) {
        for (uint64_t k = 0; k < count && items_left_ > 0; ++k) {
          --items_left_;  // also of a body without values
          at = body;
          expand_items(f, at, offset + step * k);
        }
        if (at == body) skip_items(at);
      } else if (count > 0 && items_left_ > 0 && count <= kMaxSignatureValues - f.number) {
        --items_left_;
        f.number += count;
        f.runs.push_back(IntRun{count, static_cast<int64_t>(start), static_cast<int64_t>(step)});
      }
    }
  }
  void skip_items(size_t& at) const {
    const int64_t items = list_[at++];
    for (int64_t i = 0; i < items; ++i) {
      const bool is_loop = list_[at] != 0;
      at += is_loop ? 3 : 4;
      if (is_loop) skip_items(at);
    }
  }

  const std::vector<int64_t>& values_;
  std::vector<int64_t> list_;  // of the open int_list: counts, kinds and values as they came
  uint64_t items_left_ = 0;
  std::vector<Field> path_;
  size_t part_ = 0;
  uint64_t repeat_ = 1;
  bool has_site_ = false;
};

}  // namespace

std::optional<CallFields> parse_fields(std::string_view shape, const std::vector<int64_t>& values) {
  TreeBuilder v(values);
  if (!walk_with(shape, Form::kSplit, v) || v.used != values.size()) return std::nullopt;
  return std::move(v.out);
}

}  // namespace refrain::format
