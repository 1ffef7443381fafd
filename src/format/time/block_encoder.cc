#include "format/time/block_encoder.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "base/bytes.h"
#include "format/codes/checksum.h"
#include "format/time/grid.h"
#include "format/time/model.h"
#include "format/time/range_coder.h"
#include "format/time/used_points.h"

namespace refrain::format {

namespace {

__extension__ using Wide = unsigned __int128;

uint64_t share_of(uint64_t ns, uint32_t bound) {
  return static_cast<uint64_t>(Wide{ns} * bound / TimeSpec::kOne);
}

// A gap may be off by the bound's share of so much of the time since the last call of its kind,
// too: of a loop, which short gap has which few ns matters less than what they take.
constexpr uint64_t kPartsOfInterval = 8;

// A gap or a duration, and how far from it the decoder may be.
struct Step {
  int64_t ns = 0;
  int64_t off = 0;    // that what is written may differ from ns by
  int64_t drift = 0;  // that the sum of all up to here may differ by
  uint32_t signature = 0;
  uint16_t function = 0;
  uint16_t grid = 0;
  uint32_t seen = 0;  // calls before with its signature in the block
  uint32_t used = 0;  // which of Impl::used; of calls with seen > 0
};

}  // namespace

struct BlockEncoder::Impl {
  explicit Impl(TimeSpec s) : spec(std::move(s)) {
    if (spec.mode != TimeMode::kBins) return;
    bounds.push_back(spec.bound);
    for (const TimeSpec::Override& o : spec.overrides) bounds.push_back(o.bound);
    for (const uint32_t bound : bounds) grids.emplace_back(step_for(bound));
  }

  // Of a terminal.
  struct Seen {
    uint64_t last_begin = 0;
    uint32_t block = 0;     // in which it had this
    uint32_t in_block = 0;  // calls
    uint32_t signature = 0;
    uint32_t used = 0;  // of Step
    uint16_t function = 0;
    uint16_t grid = 0;
  };

  Seen& seen_of(uint32_t terminal) {
    if (terminal >= seen.size()) seen.resize(std::max<size_t>(terminal + 1, seen.size() * 2));
    return seen[terminal];
  }

  void set_right(std::span<const TimedCall> calls);
  void measure(bool by_function);
  void limit_drift();
  void write(std::string& bytes, BlockCoding coding);
  void write(RangeEncoder& coder);
  void write_plainly(std::string& bytes) const;
  size_t choose_point(const Step& step, TimeKind kind, int64_t drift, int64_t low, int64_t high);
  int64_t write_bounded(RangeEncoder& coder, const Step& step, TimeKind kind, int64_t drift);

  TimeSpec spec;
  std::vector<uint32_t> bounds;  // the common one, and those of the overrides
  std::vector<Grid> grids;
  std::vector<Seen> seen;
  uint32_t block = 0;
  uint64_t last_end = 0;
  uint64_t known_from = 0;  // when calls with a signature began before that is not known
  std::vector<TimedCall> calls;
  std::vector<Step> steps;  // two a call: gap, duration
  // Two for each signature of the block that comes again: of its gaps and of its durations.
  std::vector<std::array<UsedPoints, 2>> used;
  TimeModel model;
};

// What no clock can show would only be in the way of what is promised about the rest.
void BlockEncoder::Impl::set_right(std::span<const TimedCall> in) {
  calls.assign(in.begin(), in.end());
  uint64_t end = last_end;
  for (TimedCall& call : calls) {
    call.end_ns = end = std::clamp(call.end_ns, end, kMaxTimeNs - 1);
    call.begin_ns = std::min(call.begin_ns, call.end_ns);
  }
}

// Steps with their own bounds; drift is that of the bound on begin or end.
void BlockEncoder::Impl::measure(bool by_function) {
  steps.clear();
  ++block;
  uint32_t signatures = 0, again = 0;
  uint64_t end = last_end;
  for (const TimedCall& call : calls) {
    Seen& s = seen_of(call.terminal);
    Step gap, duration;
    if (s.block != block) {
      s.block = block;
      s.signature = signatures++;
      s.in_block = 0;
    }
    if (s.in_block == 1) s.used = again++;
    gap.seen = duration.seen = s.in_block++;
    gap.used = duration.used = s.used;
    gap.signature = duration.signature = s.signature;
    gap.function = duration.function = s.function;
    gap.grid = duration.grid = s.grid;
    gap.ns = static_cast<int64_t>(call.begin_ns) - static_cast<int64_t>(end);
    duration.ns = static_cast<int64_t>(call.end_ns - call.begin_ns);
    if (!bounds.empty()) {
      const uint32_t bound = bounds[s.grid];
      const uint64_t last_begin = std::max(s.last_begin, known_from);
      const uint64_t interval = call.begin_ns > last_begin ? call.begin_ns - last_begin : 0;
      const auto length = static_cast<uint64_t>(duration.ns);
      // The first of its kind: nothing is known of how often it comes.
      const uint64_t part = gap.seen > 0 && !by_function ? interval / kPartsOfInterval : 0;
      const auto pause = static_cast<uint64_t>(std::max<int64_t>(gap.ns, 0));
      gap.off = gap.ns < 0 ? 0 : static_cast<int64_t>(share_of(std::max(pause, part), bound));
      duration.off = static_cast<int64_t>(share_of(length, bound));
      // A call around others ends after them, whatever their drift.
      if (gap.ns < 0) duration.off = std::min(duration.off, duration.ns + gap.ns);
      gap.drift = static_cast<int64_t>(share_of(interval, bound));
      duration.drift = static_cast<int64_t>(share_of(interval + length, bound));
    }
    s.last_begin = call.begin_ns;
    end = call.end_ns;
    steps.push_back(gap);
    steps.push_back(duration);
  }
  used.assign(again, {});
}

// Backwards: no drift from which what follows could not come back in time. Only a part of what a
// step can take back is counted on, or every step on the way would have to be exact.
void BlockEncoder::Impl::limit_drift() {
  constexpr int64_t kCountedOn = 3, kOf = 10;
  steps.back().drift = 0;
  for (size_t i = steps.size() - 1; i-- > 0;) {
    // A short gap may become much longer, but not much shorter.
    const int64_t back = std::clamp<int64_t>(steps[i + 1].ns, 0, steps[i + 1].off);
    steps[i].drift = std::min(steps[i].drift, steps[i + 1].drift + back / kOf * kCountedOn);
  }
  steps.front().drift = 0;  // the begin of the first call is exact
}

// The point of the grid that is used most among those that keep away from the limits of drift, or
// else the nearest. Gaps bring the sum of all back to the truth.
size_t BlockEncoder::Impl::choose_point(const Step& step, TimeKind kind, int64_t drift, int64_t low,
                                        int64_t high) {
  const Grid& grid = grids[step.grid];
  const auto point = [&](size_t i) { return static_cast<int64_t>(grid.at(i)); };
  const int64_t wanted =
      std::clamp(kind == TimeKind::kGap ? step.ns - drift / 2 : step.ns, low, high);
  size_t k = grid.nearest(static_cast<uint64_t>(wanted));
  if (point(k) < low && k + 1 < grid.size() && point(k + 1) <= high)
    ++k;
  else if (point(k) > high && k > 0 && point(k - 1) >= low)
    --k;
  if (step.seen == 0) return k;
  UsedPoints& points = used[step.used][static_cast<size_t>(kind)];
  if (step.seen > 1) {
    const int64_t room = step.drift - step.drift / 4;
    const int64_t from = std::max(low, step.ns - drift - room);
    const int64_t to = std::min(high, step.ns - drift + room);
    k = points.most_used([&](size_t i) { return from <= point(i) && point(i) <= to; }, k);
  }
  points.use(k);
  return k;
}

// Returns what the decoder will read.
int64_t BlockEncoder::Impl::write_bounded(RangeEncoder& coder, const Step& step, TimeKind kind,
                                          int64_t drift) {
  const Grid& grid = grids[step.grid];
  const int64_t low = std::max({int64_t{0}, step.ns - step.off, step.ns - drift - step.drift});
  const int64_t high = std::min(step.ns + step.off, step.ns - drift + step.drift);
  const int64_t wanted = std::clamp(step.ns, low, high);
  const auto point = [&](size_t i) { return static_cast<int64_t>(grid.at(i)); };
  const size_t k = choose_point(step, kind, drift, low, high);

  const auto index = static_cast<uint32_t>(k + 1);
  const unsigned top_bits = std::min(grid.index_bits(), TimeModel::kTopBits);
  const unsigned rest_bits = grid.index_bits() - top_bits;
  const uint32_t top = model.top(coder, top_bits, index >> rest_bits);
  model.rest(coder, top, rest_bits, index & ((uint32_t{1} << rest_bits) - 1));

  // Halves of the distance to the neighbours until it is near enough.
  int64_t ns = point(k);
  int64_t below = k > 0 ? point(k - 1) : ns, above = point(std::min(k + 1, grid.size() - 1));
  for (unsigned n = 0; n < TimeModel::kMostRefinements; ++n) {
    const bool good = low <= ns && ns <= high;
    model.refines(coder, n, !good);
    if (good) break;
    const bool up = wanted > ns;
    coder.raw(1, up ? 1 : 0);
    (up ? below : above) = ns;
    ns = below + (above - below) / 2;
  }
  return ns;
}

void BlockEncoder::Impl::write(RangeEncoder& coder) {
  int64_t drift = 0;
  for (size_t i = 1; i < steps.size(); ++i) {
    const Step& step = steps[i];
    const TimeKind kind = i % 2 == 0 ? TimeKind::kGap : TimeKind::kDuration;
    model.expect(step.signature, step.seen, step.function, kind);
    if (step.ns < 0) {
      const unsigned bits = bounds.empty()
                                ? TimeModel::kExactTopBits
                                : std::min(grids[step.grid].index_bits(), TimeModel::kTopBits);
      model.top(coder, bits, 0);
      if (!bounds.empty()) model.rest(coder, 0, grids[step.grid].index_bits() - bits, 0);
      const auto back = static_cast<uint64_t>(-step.ns);
      const auto width = static_cast<unsigned>(std::bit_width(back));
      coder.raw(6, width);
      coder.raw(width, back);
    } else if (bounds.empty()) {
      const TopAndRest parts = split_exact(static_cast<uint64_t>(step.ns));
      model.top(coder, TimeModel::kExactTopBits, parts.top);
      model.rest(coder, parts.top, parts.rest_bits, parts.rest);
    } else {
      drift += write_bounded(coder, step, kind, drift) - step.ns;
    }
  }
}

void BlockEncoder::Impl::write(std::string& bytes, BlockCoding coding) {
  measure(coding == BlockCoding::kByFunction);
  limit_drift();
  base::ByteWriter head;
  for (const Grid& grid : grids) head.put_varint(grid.step());
  bytes += head.view();
  model.reset(calls.size());
  RangeEncoder coder(bytes);
  write(coder);
  coder.finish();
}

void BlockEncoder::Impl::write_plainly(std::string& bytes) const {
  constexpr size_t kMost = 20;  // bytes of a call
  // By way of a small piece: a string that is made longer is filled with zeros first.
  uint8_t piece[512];
  uint8_t* at = piece;
  const auto append = [&] {
    bytes.append(reinterpret_cast<const char*>(piece), static_cast<size_t>(at - piece));
    at = piece;
  };
  uint64_t end = calls.front().begin_ns;
  for (const TimedCall& call : calls) {
    if (at > piece + sizeof piece - kMost) append();
    if (&call != &calls.front())
      at = base::write_varint(at, base::zigzag(static_cast<int64_t>(call.begin_ns - end)));
    at = base::write_varint(at, call.end_ns - call.begin_ns);
    end = call.end_ns;
  }
  append();
}

BlockEncoder::BlockEncoder(TimeSpec spec) : impl_(new Impl(std::move(spec))) {}
BlockEncoder::BlockEncoder(BlockEncoder&& other) noexcept
    : impl_(std::exchange(other.impl_, nullptr)) {}
BlockEncoder& BlockEncoder::operator=(BlockEncoder&& other) noexcept {
  std::swap(impl_, other.impl_);
  return *this;
}
BlockEncoder::~BlockEncoder() { delete impl_; }

void BlockEncoder::set_call(uint32_t terminal, uint16_t call) {
  Impl::Seen& seen = impl_->seen_of(terminal);
  seen.function = call;
  for (size_t i = 0; i < impl_->spec.overrides.size(); ++i)
    if (impl_->spec.overrides[i].call == call) seen.grid = static_cast<uint16_t>(i + 1);
}

void BlockEncoder::begin_at(uint64_t end_ns) {
  impl_->seen.clear();
  impl_->last_end = impl_->known_from = end_ns;
}

TimeBlock BlockEncoder::encode(std::span<const TimedCall> calls, std::string& bytes,
                               BlockCoding coding) {
  TimeBlock block;
  if (calls.empty()) return block;
  Impl& impl = *impl_;
  impl.set_right(calls);
  const size_t begin = bytes.size();
  if (coding == BlockCoding::kPlain)
    impl.write_plainly(bytes);
  else
    impl.write(bytes, coding);
  impl.last_end = impl.calls.back().end_ns;
  block.calls = static_cast<uint32_t>(calls.size());
  block.bytes = static_cast<uint32_t>(bytes.size() - begin);
  block.checksum = checksum32(std::string_view(bytes).substr(begin));
  block.begin_ns = impl.calls.front().begin_ns;
  block.end_ns = impl.last_end;
  block.coding = coding;
  return block;
}

size_t BlockEncoder::memory_bytes() const {
  size_t bytes =
      sizeof(Impl) + impl_->model.memory_bytes() + impl_->seen.capacity() * sizeof(Impl::Seen) +
      impl_->steps.capacity() * sizeof(Step) + impl_->used.capacity() * sizeof(impl_->used[0]) +
      impl_->calls.capacity() * sizeof(TimedCall);
  for (const Grid& grid : impl_->grids) bytes += grid.size() * sizeof(uint64_t);
  return bytes;
}

}  // namespace refrain::format
