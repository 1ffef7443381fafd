// Output: a large buffer in front of stdout.
//
// `refrain dump | head` must end quietly: a closed pipe sets closed() instead of killing the
// process, so that a long loop can stop. Any other write error is kept for finish().
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace refrain::cli {

class Output {
 public:
  Output();
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  // Append to this, then call flush_if_full() now and then.
  std::string& buffer() { return buffer_; }
  void write(std::string_view text) {
    buffer_.append(text);
    flush_if_full();
  }
  void flush_if_full() {
    if (buffer_.size() >= kFlushBytes) flush();
  }
  void flush();
  // Nobody reads any more, or writing failed: what is written from now on is dropped.
  bool closed() const { return closed_; }
  // Flushes; an error for everything but a closed pipe.
  base::Status finish();

 private:
  static constexpr size_t kFlushBytes = 256 * 1024;
  std::string buffer_;
  bool closed_ = false;
  int error_number_ = 0;
};

}  // namespace refrain::cli
