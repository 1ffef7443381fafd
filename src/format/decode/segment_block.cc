#include "format/decode/segment_block.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "format/codes/checksum.h"
#include "format/limits.h"
#include "format/time/range_coder.h"

namespace refrain::format {

namespace {

base::Error bad(const std::string& what) {
  return base::fail("the representatives of segments: " + what);
}

class RepresentativeReader {
 public:
  RepresentativeReader(const SegmentInfo& info, std::string_view bytes)
      : info_(info),
        coder_(bytes),
        // Stamps that equal those of a similar segment take next to no bits, so a few bytes could
        // mean any number of calls. Memory stays in proportion to the file.
        calls_left_(kFreeRepresentativeCalls + kRepresentativeCallsPerByte * bytes.size()) {
    model_.reset(kModelCalls);
  }

  // False when something is out of order.
  bool next(std::vector<Representative>& all) {
    Representative r;
    r.context = static_cast<uint32_t>(
        model_.number(coder_, RepresentativeModel::of_context(context_), 0) & UINT32_MAX);
    // The contexts are read as indices below.
    if (!model_.ok() || r.context >= info_.contexts.size()) return false;
    // Representatives of one context follow each other, so the context before predicts the next
    // one.
    context_ = r.context;
    const uint64_t calls = model_.number(coder_, RepresentativeModel::of_calls(context_), 0);
    const uint64_t elastic = model_.number(coder_, RepresentativeModel::of_elastic(context_), 0);
    if (!model_.ok() || calls == 0 || calls > kMaxCallsPerBlock || calls > calls_left_ ||
        // Begin and end of each call are a stamp, and 0 means that none is elastic.
        elastic > 2 * calls)
      return false;
    calls_left_ -= calls;
    if (elastic > 0) r.elastic = static_cast<uint32_t>(elastic - 1);
    // Segments of the same context and length are repetitions of one loop: the last one of them
    // predicts the next.
    Like& like = likes_[{context_, calls}];
    r.stamps.reserve(2 * calls);
    if (!read_stamps(r, calls, like.count == 0 ? nullptr : &all[like.last], like.count))
      return false;
    like.last = all.size();
    ++like.count;
    all.push_back(std::move(r));
    return true;
  }
  bool at_end() const { return coder_.at_end(); }

 private:
  static constexpr size_t kModelCalls = 32768;

  struct Like {
    size_t last = 0;
    uint32_t count = 0;
  };

  bool read_stamps(Representative& r, uint64_t calls, const Representative* like, uint32_t likes) {
    int64_t before = 0, end = 0;
    for (size_t k = 0; k < 2 * calls; ++k) {
      const auto contexts = RepresentativeModel::of_stamp(r, calls, like, likes);
      const bool is_begin = k % 2 == 0;
      const int64_t step = is_begin ? model_.signed_number(coder_, contexts, 0)
                                    : static_cast<int64_t>(model_.number(coder_, contexts, 0));
      if (!model_.ok() || step <= -2 * kMaxSegmentNs || step >= 2 * kMaxSegmentNs) return false;
      before += step;
      // A call may begin before the one before has ended (callbacks), but never end before it has
      // begun.
      if (before <= -kMaxSegmentNs || before >= kMaxSegmentNs || (!is_begin && before < end))
        return false;
      if (!is_begin) end = before;
      r.stamps.push_back(before);
    }
    return true;
  }

  const SegmentInfo& info_;
  RangeDecoder coder_;
  uint64_t calls_left_;
  SegmentModel model_;
  std::map<std::pair<uint32_t, uint64_t>, Like> likes_;
  uint32_t context_ = 0;
};

}  // namespace

base::Result<std::vector<Representative>> read_representatives(const SegmentInfo& info,
                                                               std::string_view bytes) {
  if (bytes.size() != info.bytes || checksum32(bytes) != info.checksum)
    return bad("wrong checksum: they are damaged");
  std::vector<Representative> all;
  RepresentativeReader in(info, bytes);
  for (uint64_t i = 0; i < info.representatives; ++i)
    if (!in.next(all))
      return bad("number " + std::to_string(i) + " does not follow the description");
  if (!in.at_end()) return bad("they do not end where the index says");
  return all;
}

void rebuild_segment(const Representative& r, uint64_t start_ns, uint64_t length_ns,
                     std::span<TimedCall> calls) {
  const auto start = static_cast<int64_t>(start_ns), length = static_cast<int64_t>(length_ns);
  const int64_t shift = r.elastic == kNoElastic ? 0 : length - r.length_ns();
  int64_t end = 0, end_there = 0;  // of the call before: here, and in the representative
  for (size_t i = 0; i < calls.size(); ++i) {
    const size_t k = 2 * i;
    const int64_t begin_there = r.stamps[k];
    int64_t begin = begin_there + (k >= r.elastic ? shift : 0);
    // Calls that did not overlap in the representative must not do so here, although its rest was
    // shortened. Nested ones may.
    if (begin_there >= end_there) begin = std::max(begin, end);
    // Nothing before time 0 of the run, and nothing behind the segment.
    begin = std::clamp(begin, -start, length);
    end_there = r.stamps[k + 1];
    end = std::clamp(end_there + (k + 1 >= r.elastic ? shift : 0), std::max(begin, end), length);
    calls[i].begin_ns = static_cast<uint64_t>(start + begin);
    calls[i].end_ns = static_cast<uint64_t>(start + end);
  }
}

SegmentDecoder::SegmentDecoder(std::span<const Representative> representatives, uint32_t step_ns)
    : representatives_(representatives), step_ns_(step_ns) {
  // A run of no segments has none, and then no block either.
  if (!representatives.empty()) sequence_.emplace(representatives.size(), step_ns);
}

base::Status SegmentDecoder::decode(const TimeBlock& block, std::string_view bytes,
                                    uint64_t before_ns, std::span<TimedCall> calls) {
  if (checksum32(bytes) != block.checksum) return base::fail("wrong checksum of a block of times");
  if (block.calls != calls.size() || calls.empty() || calls.size() > kMaxCallsPerBlock)
    return base::fail("a block of times has another number of calls than its index says");
  if (block.end_ns >= kMaxTimeNs || block.begin_ns > block.end_ns || before_ns > block.begin_ns)
    return base::fail("a block of times ends before it begins");
  if (!sequence_) return base::fail("a block of times has nothing to refer to");
  RangeDecoder coder(bytes);
  sequence_->begin(coder, calls.size(), 0);
  // Segments follow each other without gaps, and their lengths are multiples of the step: so starts
  // need not be stored.
  uint64_t start = block.begin_ns;
  for (size_t done = 0; done < calls.size();) {
    uint32_t id = 0;
    int64_t steps = 0;
    if (!sequence_->next(coder, representatives_, &id, &steps) || steps < 0 ||
        // Divided, because the product of two numbers of the file could overflow.
        static_cast<uint64_t>(steps) > (block.end_ns - start) / step_ns_)
      return base::fail("a segment of a block of times is out of order");
    const Representative& r = representatives_[id];
    if (r.calls() > calls.size() - done)
      return base::fail("a block of times refers to segments that do not fit");
    const uint64_t length = static_cast<uint64_t>(steps) * step_ns_;
    rebuild_segment(r, start, length, calls.subspan(done, r.calls()));
    start += length;
    done += r.calls();
  }
  if (start != block.end_ns || !coder.at_end())
    return base::fail("a block of times does not end as its index says");
  return base::Done{};
}

}  // namespace refrain::format
