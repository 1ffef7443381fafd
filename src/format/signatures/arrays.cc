#include "format/signatures/arrays.h"

#include <string_view>

#include "base/nested_runs.h"
#include "format/signatures/walker.h"

namespace refrain::format {

namespace {

using base::NestedRuns;

void write_items(const std::vector<NestedRuns::Item>& items, base::ByteWriter& out) {
  out.put_varint(items.size());
  for (const NestedRuns::Item& item : items) {
    out.put_u8(item.is_loop() ? 1 : 0);
    if (!item.is_loop()) out.put_zigzag(item.start);
    out.put_zigzag(item.step);
    out.put_zigzag(static_cast<int64_t>(item.count));
    if (item.is_loop()) write_items(item.body, out);
  }
}

class Folder final : public Visitor {
 public:
  explicit Folder(std::string_view bytes) : bytes_(bytes) {}

  void open(FieldTag tag) override {
    in_runs_ = tag == FieldTag::kIntRuns;
    if (!in_runs_) return;
    list_ = NestedRuns();
    parts_ = 0;
  }
  void number(uint64_t n) override {
    if (in_runs_ && parts_++ > 0) count_ = n;  // how many in all comes first
  }
  int64_t slot(SlotNature, int64_t v, size_t, size_t) override {
    if (!in_runs_) return v;
    if (is_step_) list_.append_run(start_, v, count_);
    start_ = v;
    is_step_ = !is_step_;
    return v;
  }
  void field_bytes(FieldTag tag, size_t begin, size_t end) override {
    if (tag != FieldTag::kIntRuns) return;
    in_runs_ = false;
    out.put_bytes(bytes_.data() + copied_, begin - copied_);
    out.put_u8(static_cast<uint8_t>(FieldTag::kIntList));
    write_items(list_.items(), out);
    copied_ = end;
  }
  void finish() { out.put_bytes(bytes_.data() + copied_, bytes_.size() - copied_); }
  bool changed() const { return copied_ > 0; }
  base::ByteWriter out;

 private:
  std::string_view bytes_;
  size_t copied_ = 0;
  NestedRuns list_;
  bool in_runs_ = false, is_step_ = false;
  int parts_ = 0;
  uint64_t count_ = 0;
  int64_t start_ = 0;
};

}  // namespace

std::string fold_arrays(std::string signature) {
  Folder folder(signature);
  if (!walk_with(signature, Form::kInline, folder) || !folder.changed()) return signature;
  folder.finish();
  return folder.out.take();
}

}  // namespace refrain::format
