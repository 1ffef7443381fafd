// Copies the bytes of a signature in which some numbers become others, or go. For the walks over
// all signatures of a trace: between the requests of a long array are two bytes, for which a call
// that copies takes longer than the copying.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "base/bytes.h"

namespace refrain::format {

class ChangedCopy {
 public:
  // `from` stays as long as this is used.
  explicit ChangedCopy(std::string_view from) : from_(from), to_(from.size(), '\0') {}

  // Copies what stands before `begin`, and leaves out what stands between there and `end`.
  void leave_out(size_t begin, size_t end) {
    copy_until(begin);
    copied_ = end;
  }
  // The same, with a number instead.
  void replace(size_t begin, size_t end, uint64_t number) {
    constexpr size_t kLongestVarint = 10;
    leave_out(begin, end);
    make_room(kLongestVarint);
    auto* const at = reinterpret_cast<uint8_t*>(to_.data() + written_);
    written_ += static_cast<size_t>(base::write_varint(at, number) - at);
  }
  // The rest, and then all of it.
  std::string finish() {
    copy_until(from_.size());
    to_.resize(written_);
    return std::move(to_);
  }

 private:
  void make_room(size_t n) {
    if (to_.size() - written_ < n) to_.resize(2 * to_.size() + n);
  }
  void copy_until(size_t end) {
    constexpr size_t kFew = 8;
    const size_t n = end - copied_;
    make_room(n);
    char* const to = to_.data() + written_;
    const char* const from = from_.data() + copied_;
    if (n > kFew)
      std::memcpy(to, from, n);
    else
      for (size_t i = 0; i < n; ++i) to[i] = from[i];
    written_ += n;
  }

  std::string_view from_;
  std::string to_;
  size_t copied_ = 0, written_ = 0;
};

}  // namespace refrain::format
