#include "base/runs.h"

#include <algorithm>

namespace refrain::base {

namespace {
// Wrapping arithmetic: values come from untrusted files and from programs' own arguments.
int64_t add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t sub(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
int64_t nth(const RunList::Run& r, uint64_t i) {
  return static_cast<int64_t>(static_cast<uint64_t>(r.start) + static_cast<uint64_t>(r.step) * i);
}
}  // namespace

// One value: joins the run before it when it fits, or makes a pair of a lone one.
void RunList::append(int64_t value) {
  if (!runs_.empty()) {
    Run& last = runs_.back();
    const int64_t gap = sub(value, nth(last, last.count - 1));
    if (last.count == 1) last.step = gap;
    if (gap == last.step) {
      ++last.count;
      return;
    }
  }
  const uint64_t before = size();
  runs_.push_back(Run{value, 0, 1, before});
}

// As if one by one: after three values the last run has this step, whatever was before, and takes
// the rest at once. So the runs depend on the values alone, not on how they were put together.
void RunList::append_run(int64_t value, int64_t step, uint64_t count) {
  const Run run{value, step, count, 0};
  for (uint64_t i = 0; i < 3 && i < count; ++i) append(nth(run, i));
  if (count > 3) runs_.back().count += count - 3;
}

void RunList::append_all(const RunList& other) {
  const std::vector<Run> runs = other.runs_;  // `other` may be this list
  for (const Run& r : runs) append_run(r.start, r.step, r.count);
}

int64_t RunList::at(uint64_t i) const {
  auto it = std::upper_bound(runs_.begin(), runs_.end(), i,
                             [](uint64_t v, const Run& r) { return v < r.before; });
  --it;
  return nth(*it, i - it->before);
}

int64_t RunList::find(int64_t value) const {
  for (const Run& r : runs_) {
    const uint64_t d = static_cast<uint64_t>(value) - static_cast<uint64_t>(r.start);
    if (d == 0) return static_cast<int64_t>(r.before);
    if (r.step == 0) continue;
    // The smallest k with k * step = d modulo 2^64, as at() wraps: step is an odd number, which has
    // an inverse (Newton: each round doubles the bits that are right), times a power of two.
    const int twos = __builtin_ctzll(static_cast<uint64_t>(r.step));
    const uint64_t odd = static_cast<uint64_t>(r.step) >> twos;
    if ((d & ((uint64_t{1} << twos) - 1)) != 0) continue;
    uint64_t inverse = odd;
    for (int round = 0; round < 5; ++round) inverse *= 2 - odd * inverse;
    const uint64_t k = (d >> twos) * inverse & (UINT64_MAX >> twos);
    if (k < r.count) return static_cast<int64_t>(r.before + k);
  }
  return -1;
}

void RunList::write(ByteWriter& out) const {
  // A run is its start (as the gap to the end of the run before), then 2 * count + has_step, then
  // the step.
  out.put_varint(runs_.size());
  int64_t last = 0;
  for (const Run& r : runs_) {
    out.put_zigzag(sub(r.start, last));
    const bool has_step = r.count > 1 && r.step != 1;
    out.put_varint(r.count << 1 | (has_step ? 1 : 0));
    if (has_step) out.put_zigzag(r.step);
    last = nth(r, r.count - 1);
  }
}

RunList RunList::read(ByteReader& in, uint64_t max_values) {
  RunList list;
  const uint64_t n = in.count(UINT32_MAX);
  int64_t last = 0;
  uint64_t total = 0;
  for (uint64_t i = 0; i < n && in.ok(); ++i) {
    Run r;
    r.start = add(last, in.zigzag());
    const uint64_t packed = in.varint();
    r.count = packed >> 1;
    r.step = (packed & 1) != 0 ? in.zigzag() : (r.count == 1 ? 0 : 1);
    if (r.count == 0 || r.count > max_values - total) {
      in.fail();
      break;
    }
    r.before = total;
    total += r.count;
    last = nth(r, r.count - 1);
    list.runs_.push_back(r);
  }
  if (!in.ok()) list.runs_.clear();
  return list;
}

}  // namespace refrain::base
