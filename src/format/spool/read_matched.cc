#include <algorithm>
#include <utility>

#include "format/decode/segment_block.h"
#include "format/limits.h"
#include "format/spool/matched.h"
#include "format/time/segment_encoder.h"

namespace refrain::format::spool {

// Stamps, of at most `room` calls.
bool MatchedReader::exact(base::ByteReader& in, uint64_t room, Representative& to) {
  const uint64_t n = in.count(std::min<uint64_t>(room, kMaxCallsPerSegment));
  int64_t end = 0;
  for (uint64_t i = 0; i < n && in.ok(); ++i) {
    const int64_t gap = in.zigzag();
    const auto duration = static_cast<int64_t>(in.varint());
    int64_t begin = 0, next = 0;
    if (__builtin_add_overflow(end, gap, &begin) || begin <= -kMaxSegmentNs || duration < 0 ||
        __builtin_add_overflow(begin, duration, &next) || next < end || next >= kMaxSegmentNs)
      return false;
    to.stamps.push_back(begin);
    to.stamps.push_back(end = next);
  }
  // What a segment's length has changes at its end.
  to.elastic = static_cast<uint32_t>(to.stamps.size()) - 1;
  return in.ok() && n > 0;
}

bool MatchedReader::read(const TimeBlock& block, std::string_view bytes,
                         std::vector<format::TimedCall>* calls) {
  if (block.calls == 0 || block.calls > kMaxCallsPerBlock || block.end_ns >= kMaxTimeNs)
    return false;
  if (calls != nullptr) calls->assign(block.calls, {});
  base::ByteReader in(bytes);
  uint64_t start = block.begin_ns, done = 0;
  if (start > block.end_ns) return false;
  while (in.ok() && done < block.calls) {
    const uint64_t kind = in.varint();
    Representative own;
    if (kind >= kKnown && kind - kKnown >= known_.size()) return false;
    if (kind < kKnown && !exact(in, block.calls - done, own)) return false;
    const Representative& r = kind >= kKnown ? known_[kind - kKnown] : own;
    const uint64_t length = kind >= kKnown ? in.varint() : static_cast<uint64_t>(r.length_ns());
    if (!in.ok() || r.calls() > block.calls - done || length > block.end_ns - start) return false;
    if (calls != nullptr)
      rebuild_segment(r, start, length, std::span(*calls).subspan(done, r.calls()));
    start += length;
    done += r.calls();
    if (kind == kNew) known_.push_back(std::move(own));
  }
  return in.ok() && in.remaining() == 0 && done == block.calls && start == block.end_ns;
}

}  // namespace refrain::format::spool
