#include "format/codes/run_codec.h"

#include <algorithm>

#include "base/wide.h"
#include "format/limits.h"

namespace refrain::format {

namespace {

using Item = base::NestedRuns::Item;

enum ItemForm : uint8_t { kOne = 0, kUnitRun = 1, kRun = 2, kLoop = 3 };

int64_t add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t sub(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

ItemForm form_of(const Item& item) {
  if (item.is_loop()) return kLoop;
  if (item.count == 1) return kOne;
  return item.step == 1 ? kUnitRun : kRun;
}

void split_items(const std::vector<Item>& items, base::ByteWriter& structure,
                 std::vector<int64_t>& numbers, int64_t& before) {
  structure.put_varint(items.size());
  for (const Item& item : items) {
    const ItemForm form = form_of(item);
    structure.put_u8(form);
    if (form != kLoop) {
      numbers.push_back(sub(item.start, before));
      before = item.start;
    }
    if (form != kOne) numbers.push_back(static_cast<int64_t>(item.count));
    if (form == kRun || form == kLoop) numbers.push_back(item.step);
    if (form == kLoop) split_items(item.body, structure, numbers, before);
  }
}

class Joiner {
 public:
  Joiner(base::ByteReader& structure, NumberSource& numbers, uint64_t max_values, uint64_t& budget)
      : structure_(structure), numbers_(numbers), left_(max_values), budget_(budget) {}

  base::RunList run() {
    const std::vector<Item> items = read_items(0);
    if (!structure_.ok()) return {};
    base::RunList list;
    // The budget leaves out a run for each item, which the bytes account for.
    uint64_t runs = std::min(budget_, kMaxRepeatedRuns) + item_count_;
    const uint64_t allowed = runs;
    for (const Item& item : items) {
      if (!expand(item, 0, list, runs)) {
        structure_.fail();
        return {};
      }
    }
    const uint64_t used = allowed - runs;
    budget_ -= std::min(budget_, used > item_count_ ? used - item_count_ : 0);
    return list;
  }

 private:
  std::vector<Item> read_items(int depth) {
    std::vector<Item> items;
    const uint64_t n = structure_.count(UINT32_MAX);
    if (depth > base::NestedRuns::kMaxDepth || (depth > 0 && n == 0)) structure_.fail();
    for (uint64_t i = 0; i < n && structure_.ok(); ++i) {
      Item item;
      const uint8_t form = structure_.u8();
      int64_t count = 1, gap = 0;
      bool good = form <= kLoop;
      if (form != kLoop) good = good && numbers_.next(gap);
      if (form != kOne) good = good && numbers_.next(count) && count > 0;
      item.step = form == kUnitRun ? 1 : 0;
      if (form >= kRun) good = good && numbers_.next(item.step);
      if (!good) structure_.fail();
      if (form != kLoop) item.start = before_ = add(before_, gap);
      item.count = static_cast<uint64_t>(count);
      if (good && form == kLoop) item.body = read_items(depth + 1);
      ++item_count_;
      items.push_back(std::move(item));
    }
    return items;
  }

  bool expand(const Item& item, uint64_t offset, base::RunList& list, uint64_t& runs) {
    if (!item.is_loop()) {
      if (runs == 0 || item.count > left_) return false;
      --runs;
      left_ -= item.count;
      list.append_run(add(item.start, static_cast<int64_t>(offset)), item.step, item.count);
      return true;
    }
    for (uint64_t i = 0; i < item.count; ++i) {
      for (const Item& inner : item.body) {
        if (!expand(inner, offset + static_cast<uint64_t>(item.step) * i, list, runs)) return false;
      }
    }
    return true;
  }

  base::ByteReader& structure_;
  NumberSource& numbers_;
  uint64_t left_;
  uint64_t& budget_;
  uint64_t item_count_ = 0;
  int64_t before_ = 0;
};

}  // namespace

base::RunList canonical(const base::RunList& list) {
  base::RunList out;
  out.append_all(list);
  return out;
}

void split_list(const std::vector<Item>& items, base::ByteWriter& structure,
                std::vector<int64_t>& numbers) {
  int64_t before = 0;
  split_items(items, structure, numbers, before);
}

void write_runs(const base::RunList& list, base::ByteWriter& structure, base::ByteWriter& numbers) {
  std::vector<int64_t> all;
  split_list(base::NestedRuns(list).items(), structure, all);
  for (const int64_t n : all) base::put_wide_zigzag(numbers, n);
}

bool WideSource::next(int64_t& number) {
  number = base::get_wide_zigzag(in_);
  return in_.ok();
}

base::RunList join_list(base::ByteReader& structure, NumberSource& numbers, uint64_t max_values,
                        uint64_t& repeated_budget) {
  return Joiner(structure, numbers, max_values, repeated_budget).run();
}

base::RunList read_runs(base::ByteReader& structure, base::ByteReader& numbers, uint64_t max_values,
                        uint64_t& repeated_budget) {
  WideSource source(numbers);
  return join_list(structure, source, max_values, repeated_budget);
}

}  // namespace refrain::format
