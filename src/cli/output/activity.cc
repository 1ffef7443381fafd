#include "cli/output/activity.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <memory>
#include <mutex>
#include <thread>

#include "base/temporaries.h"
#include "cli/options/display_options.h"
#include "reader/calls_read.h"
#include "text/escape.h"
#include "text/numbers.h"

namespace refrain::cli {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kSilent{1000}, kPause{200};

std::string seconds_text(double seconds) {
  constexpr double kMinute = 60;
  char text[48];
  if (seconds < kMinute)
    std::snprintf(text, sizeof text, "%.0f s", seconds);
  else
    std::snprintf(text, sizeof text, "%d min %02.0f s", static_cast<int>(seconds / kMinute),
                  std::floor(std::fmod(seconds, kMinute)));
  return text;
}

void write_stderr(const std::string& text) {
  if (::write(STDERR_FILENO, text.data(), text.size()) < 0) return;  // nobody looks
}

constexpr const char* kWipe = "\r\033[K";

class Line {
 public:
  explicit Line(std::string verb) : verb_(std::move(verb)), begin_(Clock::now()), since_(begin_) {
    // Signals are for the thread that works: its temporaries must not go while it changes them.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { run(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  ~Line() {
    wipe(true);
    thread_.join();
  }

  void step(const std::string& what) {
    const std::lock_guard<std::mutex> lock(mutex_);
    what_ = what;
    since_ = Clock::now();
    done_ = all_ = 0;
  }

  void share(uint64_t done, uint64_t all) {
    const std::lock_guard<std::mutex> lock(mutex_);
    done_ = done;
    all_ = all;
  }

  void wipe(bool over) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (is_drawn_) write_stderr(kWipe);
    is_drawn_ = false;
    base::say_on_signals(nullptr);
    if (!over || is_over_) return;
    is_over_ = true;
    changed_.notify_all();
  }

 private:
  void run() {
    std::unique_lock<std::mutex> lock(mutex_);
    auto next = begin_ + kSilent;
    while (!changed_.wait_until(lock, next, [this] { return is_over_; })) {
      draw();
      next = Clock::now() + kPause;
    }
  }

  void draw() {
    const auto now = Clock::now();
    const double seconds = std::chrono::duration<double>(now - begin_).count();
    std::string text = verb_ + ": " + (what_.empty() || all_ > 0 ? "" : what_ + ", ");
    if (all_ > 0) {
      text += share_text(now) + ", " + seconds_text(seconds);
    } else {
      text += seconds_text(seconds);
      if (const uint64_t calls = reader::calls_read(); calls > 0)
        text += ", " + text::count_text(calls) + " calls read";
    }
    // A line that is longer than the terminal is wide cannot be wiped.
    const size_t width = terminal_columns(STDERR_FILENO);
    if (width > 0 && text.size() >= width) text.resize(width - 1);
    write_stderr(kWipe + text::printable(text));
    is_drawn_ = true;
    base::say_on_signals(kWipe);
  }

  std::string share_text(Clock::time_point now) const {
    constexpr int kWidth = 24;
    const double share =
        std::clamp(static_cast<double>(done_) / static_cast<double>(all_), 0.0, 1.0);
    const auto filled = static_cast<size_t>(share * kWidth);
    char percent[16];
    std::snprintf(percent, sizeof percent, "%3.0f %%", share * 100);
    std::string text = (what_.empty() ? "" : what_ + " ") + "[" + std::string(filled, '#') +
                       std::string(kWidth - filled, ' ') + "] " + percent;
    constexpr double kKnown = 0.02;
    if (share < kKnown) return text;
    const double spent = std::chrono::duration<double>(now - since_).count();
    return text + ", " + seconds_text(spent / share - spent) + " left";
  }

  const std::string verb_;
  const Clock::time_point begin_;
  Clock::time_point since_;  // begin of the step
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string what_;
  uint64_t done_ = 0, all_ = 0;
  bool is_drawn_ = false, is_over_ = false;
  std::thread thread_;
};

std::unique_ptr<Line>& line() {
  static std::unique_ptr<Line> one;
  return one;
}

}  // namespace

Activity::Activity(const std::string& verb) {
  if (::isatty(STDERR_FILENO) == 1) line() = std::make_unique<Line>("refrain " + verb);
}

Activity::~Activity() { line().reset(); }

void Activity::step(const std::string& what) {
  if (line() != nullptr) line()->step(what);
}

void Activity::share(uint64_t done, uint64_t all) {
  if (line() != nullptr) line()->share(done, all);
}

void Activity::wipe(bool over) {
  if (line() != nullptr) line()->wipe(over);
}

}  // namespace refrain::cli
