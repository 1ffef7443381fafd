#include "cli/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace refrain::cli {

using std::chrono::milliseconds;

Progress::Progress(std::string what)
    : what_(std::move(what)),
      begin_(Clock::now()),
      next_(begin_ + milliseconds(1000)),
      is_terminal_(::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (is_drawn_) std::fputs("\r\033[K", stderr);
}

void Progress::show(uint64_t done, uint64_t all) {
  if (!is_terminal_ || all == 0) return;
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + milliseconds(100);
  is_drawn_ = true;
  constexpr int kWidth = 40;
  const double share = std::clamp(static_cast<double>(done) / static_cast<double>(all), 0.0, 1.0);
  const int filled = static_cast<int>(share * kWidth);
  const double seconds = std::chrono::duration<double>(now - begin_).count();
  const double left = share > 0.01 ? seconds / share - seconds : 0;
  std::fprintf(stderr, "\r%s [%.*s%*s] %3.0f %%, %.0f s left\033[K", what_.c_str(), filled,
               "########################################", kWidth - filled, "", share * 100, left);
  std::fflush(stderr);
}

}  // namespace refrain::cli
