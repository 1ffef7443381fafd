// Progress: a bar on stderr for what takes more than a second, on a terminal only.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace refrain::cli {

class Progress {
 public:
  // `what` stands in front of the bar.
  explicit Progress(std::string what);
  ~Progress();  // wipes the bar
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `done` of `all`; draws ten times a second at most.
  void show(uint64_t done, uint64_t all);

 private:
  using Clock = std::chrono::steady_clock;
  const std::string what_;
  const Clock::time_point begin_;
  Clock::time_point next_;
  const bool is_terminal_;
  bool is_drawn_ = false;
};

}  // namespace refrain::cli
