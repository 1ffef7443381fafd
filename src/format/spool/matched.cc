#include "format/spool/matched.h"

#include <utility>

#include "format/codes/checksum.h"

namespace refrain::format::spool {

namespace {
constexpr uint32_t kNone = UINT32_MAX;
}  // namespace

void MatchedWriter::segment(uint32_t id, bool is_new, const similarity::SegmentView& s) {
  if (block_.calls == 0) block_.begin_ns = static_cast<uint64_t>(s.start_ns);
  block_.calls += static_cast<uint32_t>(s.event_count());
  block_.end_ns = static_cast<uint64_t>(s.start_ns + static_cast<int64_t>(s.length_ns()));
  const uint32_t number = id < number_of_.size() ? number_of_[id] : kNone;
  if (is_new) {
    if (id >= number_of_.size()) number_of_.resize(size_t{id} + 1, kNone);
    number_of_[id] = count_++;
    out_.put_varint(kNew);
    exact(s);
  } else if (number == kNone) {
    out_.put_varint(kExact);
    exact(s);
  } else {
    out_.put_varint(kKnown + number);
    out_.put_varint(static_cast<uint64_t>(s.length_ns()));
  }
}

void MatchedWriter::exact(const similarity::SegmentView& s) {
  out_.put_varint(s.event_count());
  int64_t end = 0;
  for (size_t i = 0; i + 1 < s.stamps.size(); i += 2) {
    const auto begin = static_cast<int64_t>(s.stamps[i]);
    out_.put_zigzag(begin - end);
    end = static_cast<int64_t>(s.stamps[i + 1]);
    out_.put_varint(static_cast<uint64_t>(end - begin));
  }
}

TimeBlock MatchedWriter::take(std::string& bytes) {
  TimeBlock block = std::exchange(block_, {});
  block.coding = BlockCoding::kMatched;
  block.bytes = static_cast<uint32_t>(out_.size());
  block.checksum = checksum32(out_.view());
  bytes += out_.view();
  out_.clear();
  return block;
}

}  // namespace refrain::format::spool
