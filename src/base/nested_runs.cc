#include "base/nested_runs.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace refrain::base {

namespace {

using Item = NestedRuns::Item;

// Wrapping arithmetic: values come from untrusted bytes and from programs' own arguments.
int64_t add(int64_t a, uint64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) + b); }
int64_t sub(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
uint64_t times(int64_t a, uint64_t b) { return static_cast<uint64_t>(a) * b; }

// More items than this are not looked at as the body of a loop.
constexpr size_t kMaxPeriod = 8;

// Whether b is a, shifted by `distance`.
bool is_shifted(const Item& a, const Item& b, int64_t distance) {
  if (a.count != b.count || a.step != b.step || sub(b.start, a.start) != distance ||
      a.body.size() != b.body.size())
    return false;
  for (size_t i = 0; i < a.body.size(); ++i) {
    if (!is_shifted(a.body[i], b.body[i], distance)) return false;
  }
  return true;
}

void shift(Item& item, uint64_t by) {
  item.start = add(item.start, by);
  for (Item& inner : item.body) shift(inner, by);
}

// The last value of an item.
int64_t end_of(const Item& item) {
  const uint64_t to_last = times(item.step, item.count - 1);
  return item.is_loop() ? add(end_of(item.body.back()), to_last) : add(item.start, to_last);
}

uint64_t count_values(const std::vector<Item>& items) {
  uint64_t n = 0;
  for (const Item& item : items) n += item.count * (item.is_loop() ? count_values(item.body) : 1);
  return n;
}

uint64_t count_items(const std::vector<Item>& items) {
  uint64_t n = items.size();
  for (const Item& item : items) n += count_items(item.body);
  return n;
}

void write_items(const std::vector<Item>& items, ByteWriter& out) {
  out.put_varint(items.size());
  for (const Item& item : items) {
    out.put_zigzag(item.start);
    out.put_varint(item.count << 1 | (item.is_loop() ? 1 : 0));
    if (item.count > 1) out.put_zigzag(item.step);
    if (item.is_loop()) write_items(item.body, out);
  }
}

// How many values; more than `left` fails the reader.
uint64_t read_items(ByteReader& in, std::vector<Item>& items, int depth, uint64_t left) {
  const uint64_t n = in.count(UINT32_MAX);
  uint64_t total = 0;
  if (n == 0 || depth > NestedRuns::kMaxDepth) in.fail();
  for (uint64_t i = 0; i < n && in.ok(); ++i) {
    Item item;
    item.start = in.zigzag();
    const uint64_t packed = in.varint();
    item.count = packed >> 1;
    if (item.count > 1) item.step = in.zigzag();
    uint64_t each = 1;
    if (item.count == 0 || ((packed & 1) != 0 && item.count < 2)) in.fail();
    if ((packed & 1) != 0 && in.ok()) each = read_items(in, item.body, depth + 1, left);
    if (!in.ok() || item.count > (left - total) / each) {
      in.fail();
      break;
    }
    total += item.count * each;
    items.push_back(std::move(item));
  }
  return total;
}

}  // namespace

NestedRuns::NestedRuns(const RunList& list) {
  for (const RunList::Run& r : list.runs()) append_run(r.start, r.step, r.count);
}

int64_t NestedRuns::first() const { return items_.empty() ? open_.start : items_.front().start; }
int64_t NestedRuns::last() const { return open_.count > 0 ? end_of(open_) : end_of(items_.back()); }
uint64_t NestedRuns::item_count() const { return count_items(items_) + (open_.count > 0 ? 1 : 0); }

void NestedRuns::append_run(int64_t start, int64_t step, uint64_t count) {
  size_ += count;
  // Where the open run takes nothing of it, it is the next one as it stands.
  if (open_.count != 1 && count > 0 &&
      (open_.count == 0 || add(open_.start, times(open_.step, open_.count)) != start)) {
    close();
    open_.start = start;
    open_.step = count > 1 ? step : 0;
    open_.count = count;
    return;
  }
  // After three values the open run has this step, whatever was before, and takes the rest at once.
  for (uint64_t i = 0; i < count; ++i) {
    const int64_t value = add(start, times(step, i));
    if (open_.count > 0) {
      const int64_t gap = sub(value, end_of(open_));
      if (open_.count == 1) open_.step = gap;
      if (gap == open_.step) {
        ++open_.count;
        if (i == 0) continue;
        open_.count += count - i - 1;
        return;
      }
      close();
    }
    open_.start = value;
    open_.step = 0;
    open_.count = 1;
  }
}

void NestedRuns::close() {
  if (open_.count == 0) return;
  if (!repeats_last()) items_.push_back({open_.start, open_.step, open_.count, {}});
  open_.count = 0;
  fold();
}

// The open run is once more what the last item, a loop of one run, does. fold() would find out, at
// ten times the instructions.
inline bool NestedRuns::repeats_last() {
  if (items_.empty()) return false;
  Item& loop = items_.back();
  if (loop.body.size() != 1) return false;
  const Item& run = loop.body.front();
  if (run.is_loop() || run.count != open_.count || run.step != open_.step ||
      sub(open_.start, run.start) != static_cast<int64_t>(times(loop.step, loop.count)))
    return false;
  ++loop.count;
  return true;
}

// The opposite: the last run may grow again.
void NestedRuns::reopen() {
  while (!items_.empty() && items_.back().is_loop()) {
    Item loop = std::move(items_.back());
    items_.pop_back();
    std::vector<Item> last = loop.body;
    for (Item& item : last) shift(item, times(loop.step, loop.count - 1));
    if (--loop.count > 1) {
      items_.push_back(std::move(loop));
    } else {
      std::move(loop.body.begin(), loop.body.end(), std::back_inserter(items_));
    }
    std::move(last.begin(), last.end(), std::back_inserter(items_));
  }
  if (items_.empty()) return;
  open_ = std::move(items_.back());
  items_.pop_back();
}

void NestedRuns::fold() {
  for (bool changed = true; changed;) {
    changed = false;
    const size_t most = std::min(kMaxPeriod, items_.size() - std::min<size_t>(items_.size(), 1));
    for (size_t p = 1; p <= most && !changed; ++p) changed = may_fold(p) && fold_period(p);
  }
}

// Whether a look at the last items, more than `period`, leaves open what fold_period() would do: of
// irregular values hardly any does, and they are looked at eight times each.
inline bool NestedRuns::may_fold(size_t period) const {
  const Item* x = &items_.back();
  const Item* y = x - period;
  if (y->is_loop()) {
    // Once more the body: its last item would stand here.
    if (y->body.size() == period) {
      const Item& last = y->body.back();
      if (last.count == x->count && last.step == x->step &&
          sub(x->start, last.start) == static_cast<int64_t>(times(y->step, y->count)))
        return true;
    }
    if (period == 1 && x->is_loop() && y->step == x->step) return true;
  }
  if (y->count != x->count || y->step != x->step || items_.size() < 2 * period) return false;
  const int64_t distance = sub(x->start, y->start);
  for (size_t i = 1; i < period; ++i) {
    --x, --y;
    if (sub(x->start, y->start) != distance || y->count != x->count || y->step != x->step)
      return false;
  }
  return true;
}

// Looks at the last `period` items: once more what a loop before them does, or what stands before.
bool NestedRuns::fold_period(size_t period) {
  const size_t n = items_.size();
  if (n < period + 1) return false;
  const size_t tail = n - period;
  const auto follows = [&](const Item* first, int64_t distance) {
    for (size_t i = 0; i < period; ++i) {
      if (!is_shifted(first[i], items_[tail + i], distance)) return false;
    }
    return true;
  };
  Item& before = items_[tail - 1];
  if (before.is_loop() && before.body.size() == period &&
      follows(before.body.data(), static_cast<int64_t>(times(before.step, before.count)))) {
    ++before.count;
    items_.resize(tail);
    return true;
  }
  // A loop that goes on where an equal one stopped.
  if (period == 1 && before.is_loop() && items_[tail].is_loop() &&
      before.step == items_[tail].step && before.body.size() == items_[tail].body.size()) {
    Item next = items_[tail];
    next.count = before.count;
    if (is_shifted(before, next, static_cast<int64_t>(times(before.step, before.count)))) {
      before.count += items_[tail].count;
      items_.resize(tail);
      return true;
    }
  }
  if (n < 2 * period) return false;
  const size_t head = n - 2 * period;
  const int64_t distance = sub(items_[tail].start, items_[head].start);
  if (!follows(&items_[head], distance)) return false;
  Item loop{items_[head].start, distance, 2, {}};
  loop.body.assign(std::make_move_iterator(items_.begin() + static_cast<std::ptrdiff_t>(head)),
                   std::make_move_iterator(items_.begin() + static_cast<std::ptrdiff_t>(tail)));
  items_.resize(head);
  items_.push_back(std::move(loop));
  return true;
}

void NestedRuns::append_all(const NestedRuns& other) {
  const std::vector<Item> items = other.items();
  for (const Item& item : items) append_item(item, 0);
}

void NestedRuns::append_item(const Item& item, uint64_t offset) {
  if (!item.is_loop()) return append_run(add(item.start, offset), item.step, item.count);
  for (uint64_t done = 0; done < item.count; ++done) {
    // Two repetitions show how this list sees them; the rest is more of the same.
    if (done == 2 && item.count > 3 && extend_by(item, offset, done)) return;
    for (const Item& inner : item.body) append_item(inner, offset + times(item.step, done));
  }
}

// The first `done` repetitions of the loop stand at the end: adds the others if they are a loop
// there too.
bool NestedRuns::extend_by(const Item& item, uint64_t offset, uint64_t done) {
  close();
  Item& last = items_.back();
  bool same = last.is_loop() && last.step == item.step && last.count >= done &&
              last.body.size() == item.body.size();
  if (same) {
    Item expected = item;
    shift(expected, offset + times(item.step, done) - times(last.step, last.count));
    expected.count = last.count;
    same = is_shifted(expected, last, 0);
  }
  if (same) {
    last.count += item.count - done;
    size_ += count_values(item.body) * (item.count - done);
    fold();
  }
  reopen();
  return same;
}

std::vector<Item> NestedRuns::items() const {
  NestedRuns copy = *this;
  copy.close();
  return std::move(copy.items_);
}

RunList NestedRuns::runs() const {
  RunList list;
  for_each_run(
      [&](int64_t start, int64_t step, uint64_t count) { list.append_run(start, step, count); });
  return list;
}

void NestedRuns::write(ByteWriter& out) const {
  out.put_u8(empty() ? 0 : 1);
  if (!empty()) write_items(items(), out);
}

NestedRuns NestedRuns::read(ByteReader& in, uint64_t max_values) {
  NestedRuns list;
  if (in.u8() == 0) return list;
  list.size_ = read_items(in, list.items_, 1, max_values);
  if (!in.ok()) return NestedRuns();
  list.reopen();
  return list;
}

}  // namespace refrain::base
