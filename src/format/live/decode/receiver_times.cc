// Times of single calls, in blocks and before there is one. Null: good; else what is wrong.
#include <algorithm>

#include "format/codes/checksum.h"
#include "format/limits.h"
#include "format/live/decode/receiver.h"
#include "format/time/grid.h"

namespace refrain::format::live {

const char* Receiver::read_times(base::ByteReader& in) {
  const uint64_t number = in.varint();
  TimeBlock b;
  const uint64_t calls = in.varint();
  b.calls = static_cast<uint32_t>(calls);
  b.begin_ns = in.varint();
  b.end_ns = in.varint();
  b.checksum = in.u32();
  const uint8_t coding = in.u8();
  const std::string_view bytes = in.bytes(in.remaining());
  const Thread* const t = in.ok() ? thread(number) : nullptr;
  if (t == nullptr || calls == 0 || calls > kMaxCallsPerBlock || b.end_ns < b.begin_ns ||
      coding > static_cast<uint8_t>(BlockCoding::kMatched) || bytes.size() > kMaxBlockBytes ||
      checksum32(bytes) != b.checksum)
    return "no block of times";
  b.coding = static_cast<BlockCoding>(coding);
  b.bytes = static_cast<uint32_t>(bytes.size());
  spool::ThreadTimes& times = times_[static_cast<uint32_t>(number)];
  times.thread = static_cast<uint32_t>(number);
  if (b.calls > t->calls() - times.calls ||
      (!times.blocks.empty() && b.end_ns < times.blocks.back().end_ns))
    return "times of calls that did not come";
  // Once one is left out, so are all that follow: times are those of the first calls.
  if (lost_times_ > 0 || bytes.size() > options_.max_time_bytes - time_bytes_) {
    lost_times_ += b.calls;
    return nullptr;
  }
  time_bytes_ += bytes.size();
  times.calls += b.calls;
  times.blocks.push_back(b);
  times.bytes += bytes;
  drop_early(times.thread, times.calls);
  return nullptr;
}

// Blocks have come for the calls before `until`.
void Receiver::drop_early(uint32_t number, uint64_t until) {
  const auto known = early_.find(number);
  if (known == early_.end()) return;
  EarlyTimes& early = known->second;
  const uint64_t n = std::min<uint64_t>(early.calls.size(), until - std::min(until, early.first));
  early.calls.erase(early.calls.begin(), early.calls.begin() + static_cast<ptrdiff_t>(n));
  early.first += n;
  if (early.calls.empty()) early_.erase(known);
}

const char* Receiver::read_early_times(base::ByteReader& in) {
  const uint64_t number = in.varint(), first = in.varint();
  const Thread* const t = in.ok() ? thread(number) : nullptr;
  if (t == nullptr) return "early times of no thread";
  const auto known = times_.find(static_cast<uint32_t>(number));
  EarlyTimes& early = early_[static_cast<uint32_t>(number)];
  if (early.calls.empty()) early.first = known == times_.end() ? 0 : known->second.calls;
  // Behind times that were not kept nothing can be done with them.
  if (lost_times_ > 0) return nullptr;
  if (first != early.end()) return "early times that are not the next ones";
  uint64_t before_ns = 0;
  while (!in.at_end()) {
    const uint64_t begin = before_ns + static_cast<uint64_t>(in.zigzag());
    const uint64_t end = begin + in.varint();
    if (!in.ok() || end < begin || end < before_ns || end > kMaxTimeNs ||
        early.calls.size() >= kMaxEarlyTimes || early.end() >= t->calls())
      return "bad early times";
    early.calls.emplace_back(begin, end);
    before_ns = end;
  }
  return in.ok() ? nullptr : "bad early times";
}

}  // namespace refrain::format::live
