#include "format/time/segment_encoder.h"

#include <algorithm>
#include <map>
#include <utility>

#include "format/codes/checksum.h"
#include "format/time/range_coder.h"

namespace refrain::format {

void SegmentEncoder::segment(uint32_t id, uint64_t length_ns, TimeChunk& chunk,
                             std::string& bytes) {
  const size_t calls = representatives_[id].calls();
  if (calls_ + calls > kCallsPerSegmentBlock + kMaxCallsPerSegment) finish(chunk, bytes);
  now_ns_ += length_ns;
  const uint64_t end = rounded(now_ns_);
  segments_.push_back({id, static_cast<int64_t>(end - now_)});
  now_ = end;
  calls_ += calls;
  if (calls_ >= kCallsPerSegmentBlock) finish(chunk, bytes);
}

// The first of the representatives that follow each other by number, up to the highest, in the
// order in which they are first used in the block: where numbers are given by first use, the new
// ones.
uint32_t SegmentEncoder::find_new() {
  uint32_t highest = 0;
  for (size_t i = 0; i < segments_.size(); ++i) {
    uint64_t& at = first_at_[segments_[i].id];
    if (at <= coded_) at = coded_ + 1 + i;
    highest = std::max(highest, segments_[i].id);
  }
  uint32_t first = highest;
  while (first > 0 && first_at_[first - 1] > coded_ && first_at_[first - 1] < first_at_[first])
    --first;
  coded_ += segments_.size();
  return first;
}

void SegmentEncoder::finish(TimeChunk& chunk, std::string& bytes) {
  if (segments_.empty()) return;
  const size_t begin = bytes.size();
  RangeEncoder coder(bytes);
  sequence_.begin(coder, calls_, find_new());
  uint64_t end = start_;
  for (Segment& s : segments_) {
    sequence_.next(coder, representatives_, &s.id, &s.length);
    end += static_cast<uint64_t>(s.length);
  }
  coder.finish();
  TimeBlock& block = chunk.blocks.emplace_back();
  block.calls = static_cast<uint32_t>(calls_);
  block.bytes = static_cast<uint32_t>(bytes.size() - begin);
  block.checksum = checksum32(std::string_view(bytes).substr(begin));
  block.begin_ns = start_ * step_ns_;
  block.end_ns = end * step_ns_;
  start_ = end;
  segments_.clear();
  calls_ = 0;
}

namespace {

bool is_good(const Representative& r) {
  if (r.stamps.empty() || r.stamps.size() % 2 != 0 || r.calls() > kMaxCallsPerSegment) return false;
  if (r.elastic != kNoElastic && r.elastic >= r.stamps.size()) return false;
  int64_t end = 0;
  for (size_t k = 0; k < r.stamps.size(); k += 2) {
    const int64_t begin = r.stamps[k];
    if (begin <= -kMaxSegmentNs || r.stamps[k + 1] < begin || r.stamps[k + 1] < end) return false;
    end = r.stamps[k + 1];
  }
  return end < kMaxSegmentNs;
}

}  // namespace

base::Result<std::string> encode_representatives(std::span<const Representative> representatives) {
  std::string bytes;
  SegmentModel model;
  model.reset(kCallsPerSegmentBlock);
  RangeEncoder coder(bytes);
  struct Like {
    const Representative* last = nullptr;
    uint32_t count = 0;
  };
  std::map<std::pair<uint32_t, size_t>, Like> likes;
  uint32_t context = 0;
  for (size_t i = 0; i < representatives.size(); ++i) {
    const Representative& r = representatives[i];
    if (!is_good(r))
      return base::fail("representative " + std::to_string(i) +
                        " of segments has times out of order or beyond the limits");
    model.number(coder, RepresentativeModel::of_context(context), r.context);
    context = r.context;
    model.number(coder, RepresentativeModel::of_calls(context), r.calls());
    model.number(coder, RepresentativeModel::of_elastic(context),
                 r.elastic == kNoElastic ? 0 : r.elastic + 1);
    Like& like = likes[{context, r.stamps.size()}];
    Representative known;  // as far as the decoder knows it
    known.context = context;
    for (size_t k = 0; k < r.stamps.size(); ++k) {
      const auto contexts = RepresentativeModel::of_stamp(known, r.calls(), like.last, like.count);
      const int64_t step = r.stamps[k] - (k == 0 ? 0 : r.stamps[k - 1]);
      if (k % 2 == 0)
        model.signed_number(coder, contexts, step);
      else
        model.number(coder, contexts, static_cast<uint64_t>(step));
      known.stamps.push_back(r.stamps[k]);
    }
    like.last = &r;
    ++like.count;
  }
  coder.finish();
  return bytes;
}

}  // namespace refrain::format
