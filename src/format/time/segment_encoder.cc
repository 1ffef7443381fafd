#include "format/time/segment_encoder.h"

#include <bit>
#include <map>
#include <utility>

#include "format/checksum.h"
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

void SegmentEncoder::finish(TimeChunk& chunk, std::string& bytes) {
  if (segments_.empty()) return;
  ++block_;
  model_.reset(calls_);
  const size_t begin = bytes.size();
  RangeEncoder coder(bytes);
  const auto bits = static_cast<unsigned>(std::bit_width(representatives_.size() - 1));
  uint32_t before = 0, earlier = 0;
  uint64_t end = start_;
  for (const Segment& s : segments_) {
    model_.id(coder, bits, before, earlier, s.id);
    earlier = std::exchange(before, s.id);
    Expected& expected = expected_[s.id];
    if (expected.block != block_)
      expected = {block_, ExpectedLength(representatives_[s.id].length_ns() /
                                         static_cast<int64_t>(step_ns_))};
    model_.signed_number(coder, ExpectedLength::contexts(s.id),
                         s.length - expected.length.length());
    expected.length.saw(s.length);
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
  std::map<std::pair<uint32_t, size_t>, const Representative*> last;
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
    const Representative*& like = last[{context, r.stamps.size()}];
    int64_t before = 0;
    for (size_t k = 0; k < r.stamps.size(); ++k) {
      const auto contexts = RepresentativeModel::of_stamp(r, r.calls(), like, k);
      if (k % 2 == 0)
        model.signed_number(coder, contexts, r.stamps[k] - before);
      else
        model.number(coder, contexts, static_cast<uint64_t>(r.stamps[k] - before));
      before = r.stamps[k];
    }
    like = &r;
  }
  coder.finish();
  return bytes;
}

}  // namespace refrain::format
