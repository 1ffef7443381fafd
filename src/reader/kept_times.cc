#include "reader/kept_times.h"

#include <utility>

#include "base/bytes.h"

namespace refrain::reader {

// Each number is the distance to the one before, modulo 2^64: any times come out as they went in.
bool KeptTimes::take(const void* block, std::span<format::TimedCall> calls) const {
  std::shared_ptr<const std::string> packed;
  {
    const std::lock_guard<std::mutex> guard(mutex_);
    const auto known = blocks_.find(block);
    if (known == blocks_.end() || known->second == nullptr) return false;
    packed = known->second;
  }
  base::ByteReader in(*packed);
  uint64_t at = 0;
  for (format::TimedCall& call : calls) {
    call.begin_ns = at += static_cast<uint64_t>(in.zigzag());
    call.end_ns = at += static_cast<uint64_t>(in.zigzag());
  }
  return true;
}

void KeptTimes::decoded(const void* block, std::span<const format::TimedCall> calls) {
  {
    const std::lock_guard<std::mutex> guard(mutex_);
    if (bytes_ + kEntryBytes > most_bytes_) return;
    const auto [known, is_new] = blocks_.try_emplace(block);
    if (is_new) bytes_ += kEntryBytes;
    if ((is_new && !expects_more_) || known->second != nullptr) return;
  }
  base::ByteWriter out;
  uint64_t at = 0;
  for (const format::TimedCall& call : calls) {
    out.put_zigzag(static_cast<int64_t>(call.begin_ns - at));
    out.put_zigzag(static_cast<int64_t>(call.end_ns - call.begin_ns));
    at = call.end_ns;
  }
  auto packed = std::make_shared<const std::string>(out.view());  // without room to grow
  const std::lock_guard<std::mutex> guard(mutex_);
  std::shared_ptr<const std::string>& place = blocks_[block];
  if (place != nullptr || bytes_ + packed->capacity() > most_bytes_) return;
  bytes_ += packed->capacity();
  place = std::move(packed);
}

size_t KeptTimes::bytes() const {
  const std::lock_guard<std::mutex> guard(mutex_);
  return bytes_;
}

}  // namespace refrain::reader
