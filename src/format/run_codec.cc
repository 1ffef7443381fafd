#include "format/run_codec.h"

#include "format/limits.h"

namespace refrain::format {

namespace {
// Wrapping: values may be anything.
int64_t add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t sub(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
int64_t nth(int64_t start, int64_t step, uint64_t i) {
  return static_cast<int64_t>(static_cast<uint64_t>(start) + static_cast<uint64_t>(step) * i);
}
}  // namespace

base::RunList canonical(const base::RunList& list) {
  if (list.runs().size() < 2) return list;
  base::RunList out;
  for (const auto& run : list.runs()) {
    for (uint64_t i = 0; i < run.count; ++i) out.append(nth(run.start, run.step, i));
  }
  return out;
}

void write_runs(const base::RunList& list, base::ByteWriter& out) {
  const base::RunList form = canonical(list);
  const auto& runs = form.runs();
  base::ByteWriter blocks;
  uint64_t count = 0;
  int64_t last = 0;
  for (size_t i = 0; i < runs.size(); ++count) {
    const auto& run = runs[i];
    size_t same = 1;
    int64_t distance = 0;
    while (i + same < runs.size() && runs[i + same].count == run.count &&
           runs[i + same].step == run.step && same < kMaxRepeatedRuns) {
      const int64_t gap = sub(runs[i + same].start, runs[i + same - 1].start);
      if (same == 1) distance = gap;
      if (gap != distance) break;
      ++same;
    }
    const bool has_step = run.count > 1 && run.step != 1;
    const bool has_repeat = same > 1;
    blocks.put_zigzag(sub(run.start, last));
    blocks.put_varint(run.count << 2 | (has_repeat ? 2 : 0) | (has_step ? 1 : 0));
    if (has_step) blocks.put_zigzag(run.step);
    if (has_repeat) {
      blocks.put_varint(same - 2);
      blocks.put_zigzag(distance);
    }
    i += same;
    last = nth(runs[i - 1].start, run.step, run.count - 1);
  }
  out.put_varint(count);
  out.put_bytes(blocks.view().data(), blocks.size());
}

base::RunList read_runs(base::ByteReader& in, uint64_t max_values, uint64_t& repeated_budget) {
  base::RunList list;
  const uint64_t blocks = in.count(UINT32_MAX);
  int64_t last = 0;
  uint64_t left = max_values;
  for (uint64_t b = 0; b < blocks && in.ok(); ++b) {
    int64_t start = add(last, in.zigzag());
    const uint64_t packed = in.varint();
    const uint64_t count = packed >> 2;
    const int64_t step = (packed & 1) != 0 ? in.zigzag() : (count > 1 ? 1 : 0);
    const bool has_repeat = (packed & 2) != 0;
    const uint64_t more = has_repeat ? in.varint() : 0;
    const int64_t distance = has_repeat ? in.zigzag() : 0;
    if (!in.ok() || count == 0 || more >= kMaxRepeatedRuns) break;
    const uint64_t repeat = has_repeat ? more + 2 : 1;
    if (count > left / repeat || repeat - 1 > repeated_budget) break;
    left -= count * repeat;
    repeated_budget -= repeat - 1;
    for (uint64_t r = 0; r < repeat; ++r, start = add(start, distance)) {
      list.append_run(start, step, count);
      last = nth(start, step, count - 1);
    }
    if (b + 1 == blocks) return list;
  }
  if (blocks != 0) in.fail();
  return base::RunList();
}

}  // namespace refrain::format
