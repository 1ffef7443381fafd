#include "format/encode/columns.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "base/nested_runs.h"
#include "base/wide.h"
#include "format/codes/run_codec.h"
#include "format/signatures/file_forms.h"

namespace refrain::format {

namespace {

int64_t sub(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

size_t varint_bytes(int64_t v) {
  const uint64_t bits = 64 - static_cast<uint64_t>(__builtin_clzll(base::zigzag(v) | 1));
  return (bits + 6) / 7;
}

// Whichever of the two takes fewer bytes.
ColumnMode plain_or_differences(const std::vector<int64_t>& values, int64_t before) {
  size_t plain = 0, differences = 0;
  for (const int64_t v : values) {
    plain += varint_bytes(v);
    differences += varint_bytes(sub(v, before));
    before = v;
  }
  return differences < plain ? ColumnMode::kDifferences : ColumnMode::kPlain;
}

// Writes numbers of which most take a few bytes, many at a time.
class ZigzagWriter {
 public:
  explicit ZigzagWriter(base::ByteWriter& out) : out_(out) {}
  ~ZigzagWriter() { flush(); }
  ZigzagWriter(const ZigzagWriter&) = delete;
  ZigzagWriter& operator=(const ZigzagWriter&) = delete;
  void put(int64_t v) {
    if (at_ > bytes_.data() + bytes_.size() - kMostBytes) flush();
    at_ = base::write_varint(at_, base::zigzag(v));
  }

 private:
  static constexpr size_t kMostBytes = 10;
  void flush() {
    out_.put_bytes(bytes_.data(), static_cast<size_t>(at_ - bytes_.data()));
    at_ = bytes_.data();
  }
  base::ByteWriter& out_;
  std::array<uint8_t, 4096> bytes_;
  uint8_t* at_ = bytes_.data();
};

// Run by run, which takes a fraction of what value by value does.
void append_all(std::span<const int64_t> values, base::NestedRuns& list) {
  for (size_t i = 0; i < values.size();) {
    const size_t left = values.size() - i;
    const int64_t step = left > 1 ? sub(values[i + 1], values[i]) : 0;
    size_t n = std::min<size_t>(left, 2);
    while (n < left && sub(values[i + n], values[i + n - 1]) == step) ++n;
    list.append_run(values[i], step, n);
    i += n;
  }
}

// Whether runs and loops of runs may say a column in few items. Looking for them takes longer than
// all else where there are none, so of a long column that is irregular in several places, far from
// each other, the rest is not looked at.
bool may_be_list(const std::vector<int64_t>& values) {
  constexpr size_t kPieces = 8, kPiece = 256;
  if (values.size() < 4 * kPieces * kPiece) return true;
  for (size_t i = 0; i < kPieces; ++i) {
    base::NestedRuns piece;
    const size_t begin = (values.size() - kPiece) / (kPieces - 1) * i;
    append_all(std::span(values).subspan(begin, kPiece), piece);
    if (piece.item_count() * 4 <= kPiece) return true;
  }
  return false;
}

}  // namespace

void ColumnWriter::scaled(uint64_t v, uint64_t from) {
  fields_.put_varint(std::min(v, from));
  if (v >= from) base::put_wide(numbers_, v);
}

ColumnMode ColumnWriter::distinct(const std::vector<int64_t>& values) {
  if (is_plain_ || values.size() == 1 || values.size() >= kFamilyOfChance)
    return put(values, false, nullptr);
  fields_.put_u8(static_cast<uint8_t>(ColumnMode::kWide));
  for (const int64_t v : values) base::put_wide_zigzag(numbers_, v);
  return ColumnMode::kWide;
}

ColumnMode ColumnWriter::constant(int64_t value, size_t members, bool is_index, int64_t* previous) {
  if (is_plain_) return put(std::vector<int64_t>(members, value), is_index, previous);
  const bool is_as_before = previous != nullptr && *previous == value;
  const int64_t before = previous != nullptr ? std::exchange(*previous, value) : 0;
  if (is_as_before) return mode(ColumnMode::kAsBefore);
  mode(ColumnMode::kConstant);
  if (is_index) {
    fields_.put_zigzag(sub(value, before));
  } else {
    base::put_wide_zigzag(numbers_, value);
  }
  return ColumnMode::kConstant;
}

ColumnMode ColumnWriter::put(const std::vector<int64_t>& values, bool is_index, int64_t* previous) {
  const bool is_constant =
      std::all_of(values.begin(), values.end(), [&](int64_t v) { return v == values[0]; });
  if (is_constant && !is_plain_) return constant(values[0], values.size(), is_index, previous);
  const int64_t before = previous != nullptr ? std::exchange(*previous, values.back()) : 0;
  if (is_plain_) {
    mode(ColumnMode::kPlain);
    ZigzagWriter out(fields_);
    for (const int64_t v : values) out.put(v);
    return ColumnMode::kPlain;
  }
  if (values.size() >= kLongFamily && may_be_list(values)) {
    base::NestedRuns list;
    append_all(values, list);
    // An item takes three numbers and its form.
    if (list.item_count() * 4 <= values.size()) {
      mode(ColumnMode::kList);
      std::vector<int64_t> parts;
      split_list(list.items(), fields_, parts);
      for (const int64_t n : parts) base::put_wide_zigzag(numbers_, n);
      return ColumnMode::kList;
    }
  }
  if (!is_index && values.size() <= kMaxWideMembers) {
    for (const int64_t v : values) base::put_wide_zigzag(numbers_, v);
    return mode(ColumnMode::kWide);
  }
  const ColumnMode chosen = mode(plain_or_differences(values, before));
  ZigzagWriter out(fields_);
  int64_t last = before;
  for (const int64_t v : values) {
    out.put(chosen == ColumnMode::kPlain ? v : sub(v, last));
    last = v;
  }
  return chosen;
}

}  // namespace refrain::format
