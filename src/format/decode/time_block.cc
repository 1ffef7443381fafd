#include "format/decode/time_block.h"

#include <algorithm>
#include <bit>
#include <string>

#include "base/bytes.h"
#include "format/codes/checksum.h"
#include "format/limits.h"
#include "format/time/range_coder.h"

namespace refrain::format {

namespace {

// So many grids are kept; no encoder makes as many.
constexpr size_t kMaxKnownGrids = 256;

// The gap or duration that comes next.
class NumberReader {
 public:
  NumberReader(TimeModel& model, RangeDecoder& coder) : model_(model), coder_(coder) {}

  bool ok() const { return ok_; }
  int64_t exact() {
    const uint32_t top = model_.top(coder_, TimeModel::kExactTopBits, 0);
    // 0 is taken for what the ranges of the model do not have: a step back in time, which nested
    // calls make.
    if (top == 0) return back();
    if (top > TimeModel::kMostExactTop) return fail();
    unsigned bits = 0;
    const uint64_t base = exact_base(top, bits);
    return static_cast<int64_t>(base + model_.rest(coder_, top, bits, 0));
  }
  int64_t bounded(const Grid& grid) {
    // The upper bits are modelled, as calls of one kind take about as long; the lower ones are
    // nearly noise.
    const unsigned top_bits = std::min(grid.index_bits(), TimeModel::kTopBits);
    const unsigned rest_bits = grid.index_bits() - top_bits;
    const uint32_t top = model_.top(coder_, top_bits, 0);
    const uint64_t index = uint64_t{top} << rest_bits | model_.rest(coder_, top, rest_bits, 0);
    if (index == 0) return back();
    if (index > grid.size()) return fail();
    const auto k = static_cast<size_t>(index - 1);
    // A point of the grid may be too coarse where the next call would begin too late; then the
    // writer halves the distance to a neighbour, up to some times.
    uint64_t ns = grid.at(k);
    uint64_t below = k > 0 ? grid.at(k - 1) : ns, above = grid.at(std::min(k + 1, grid.size() - 1));
    for (unsigned n = 0; n < TimeModel::kMostRefinements; ++n) {
      if (!model_.refines(coder_, n, false)) break;
      (coder_.raw(1) != 0 ? below : above) = ns;
      ns = below + (above - below) / 2;
    }
    return static_cast<int64_t>(ns);
  }

 private:
  int64_t back() {
    // Rare, so without a model: a width, and so many bits.
    const auto width = static_cast<unsigned>(coder_.raw(6));
    if (width == 0 || width > 62) return fail();
    return -static_cast<int64_t>(coder_.raw(width));
  }
  int64_t fail() {
    ok_ = false;
    return 0;
  }

  TimeModel& model_;
  RangeDecoder& coder_;
  bool ok_ = true;
};

// Beyond the block's end nothing fits, and no sum can overflow.
bool fits(int64_t begin, int64_t duration, int64_t end_before, int64_t last) {
  // In this order: each comparison keeps the next one from overflowing.
  return begin >= 0 && begin <= last && duration >= 0 && duration <= last - begin &&
         begin + duration >= end_before;
}

base::Error out_of_order(size_t call) {
  return base::fail("call " + std::to_string(call) + " of a block of times is out of order");
}

}  // namespace

const Grid& BlockDecoder::grid_of(uint32_t step) {
  // A damaged file may name a new grid in each block; making one takes long enough to be worth
  // keeping, and no more memory than this.
  if (known_.size() >= kMaxKnownGrids) known_.clear();
  return known_.try_emplace(step, step).first->second;
}

bool BlockDecoder::read_grids(std::string_view& bytes) {
  grids_.clear();
  // Exact times need no grid.
  if (spec_.mode != TimeMode::kBins) return true;
  base::ByteReader in(bytes);
  std::vector<uint32_t> steps;
  for (size_t i = 0; i < spec_.overrides.size() + 1; ++i) {
    const uint64_t step = in.varint();
    if (!in.ok() || step < Grid::kMinStep || step > Grid::kMaxStep) return false;
    steps.push_back(static_cast<uint32_t>(step));
  }
  // Before the first of them is taken: grids_ points into the table, which must not be emptied in
  // between.
  if (known_.size() + steps.size() > kMaxKnownGrids) known_.clear();
  for (const uint32_t step : steps) grids_.push_back(&grid_of(step));
  bytes.remove_prefix(in.position());
  return true;
}

base::Status BlockDecoder::decode_plainly(const TimeBlock& block, std::string_view bytes,
                                          uint64_t before_ns, std::span<TimedCall> calls) const {
  if (spec_.mode == TimeMode::kBins)
    return base::fail("a block of times with a bound is coded plainly");
  base::ByteReader in(bytes);
  // Blocks that were not coded yet: the recorder writes them so into the spool, and codes them in
  // MPI_Finalize.
  auto end = static_cast<int64_t>(before_ns);
  const auto last = static_cast<int64_t>(block.end_ns);
  for (size_t i = 0; i < calls.size(); ++i) {
    int64_t begin = static_cast<int64_t>(block.begin_ns);
    if (i > 0 && __builtin_add_overflow(end, in.zigzag(), &begin)) return out_of_order(i);
    const auto duration = static_cast<int64_t>(in.varint());
    if (!in.ok() || !fits(begin, duration, end, last)) return out_of_order(i);
    end = begin + duration;
    calls[i].begin_ns = static_cast<uint64_t>(begin);
    calls[i].end_ns = static_cast<uint64_t>(end);
  }
  if (end != last || in.remaining() != 0)
    return base::fail("a block of times does not end as its index says");
  return base::Done{};
}

base::Status BlockDecoder::decode(const TimeBlock& block, std::string_view bytes,
                                  uint64_t before_ns, std::span<const uint16_t> call_of,
                                  std::span<TimedCall> calls) {
  if (checksum32(bytes) != block.checksum) return base::fail("wrong checksum of a block of times");
  if (block.calls != calls.size() || calls.empty() || calls.size() > kMaxCallsPerBlock)
    return base::fail("a block of times has another number of calls than its index says");
  if (block.end_ns >= kMaxTimeNs || block.begin_ns > block.end_ns || before_ns > block.end_ns)
    return base::fail("a block of times ends before it begins");
  if (block.coding == BlockCoding::kPlain) return decode_plainly(block, bytes, before_ns, calls);
  if (!read_grids(bytes)) return base::fail("a block of times has a step beyond the limits");
  ++block_;
  model_.reset(calls.size());
  RangeDecoder coder(bytes);
  NumberReader numbers(model_, coder);
  uint32_t signatures = 0;
  int64_t end = static_cast<int64_t>(before_ns);
  const auto last = static_cast<int64_t>(block.end_ns);
  for (size_t i = 0; i < calls.size(); ++i) {
    const uint32_t terminal = calls[i].terminal;
    const uint16_t function = terminal < call_of.size() ? call_of[terminal] : uint16_t{0};
    const uint32_t kind_of_call = block.coding == BlockCoding::kByFunction ? function : terminal;
    if (kind_of_call >= seen_.size()) seen_.resize(size_t{kind_of_call} + 1);
    Seen& seen = seen_[kind_of_call];
    if (seen.block != block_) seen = {block_, signatures++, 0};
    const Grid* grid = grids_.empty() ? nullptr : grids_[0];
    for (size_t o = 0; o < spec_.overrides.size(); ++o)
      if (spec_.overrides[o].call == function) grid = grids_[o + 1];
    const uint32_t before = seen.calls++;
    const auto next = [&](TimeKind kind) {
      model_.expect(seen.signature, before, function, kind);
      return grid == nullptr ? numbers.exact() : numbers.bounded(*grid);
    };
    const int64_t begin =
        i == 0 ? static_cast<int64_t>(block.begin_ns) : end + next(TimeKind::kGap);
    const int64_t duration = next(TimeKind::kDuration);
    if (!numbers.ok() || !fits(begin, duration, end, last)) return out_of_order(i);
    end = begin + duration;
    calls[i].begin_ns = static_cast<uint64_t>(begin);
    calls[i].end_ns = static_cast<uint64_t>(end);
  }
  if (end != last || !coder.at_end())
    return base::fail("a block of times does not end as its index says");
  return base::Done{};
}

}  // namespace refrain::format
