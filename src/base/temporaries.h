// Files and folders that must not be left behind by a process that a signal ends.
//
//   Temporary guard(path);         before it is made
//   ... the file gets its name, or is removed; then the guard goes
//
// Nothing happens unless the program asked for it: a library must not touch signals.
#pragma once

#include <csignal>
#include <string>

namespace refrain::base {

// From now on a signal that ends this process (by the terminal, by kill, by a limit) first removes
// what is guarded. Signals that are ignored, or have a handler, keep what they have.
void remove_temporaries_on_signals();

// Such a signal also writes `text` to stderr, to wipe a line from a terminal, say. nullptr:
// nothing. `text` stays.
void say_on_signals(const char* text);

class Temporary {
 public:
  explicit Temporary(std::string path);
  ~Temporary();
  Temporary(const Temporary&) = delete;

  // What the handler of a signal does: it removes all that are guarded now.
  static void remove_all();

 private:
  std::string path_;
  Temporary* next_ = nullptr;
  bool is_guarded_ = false;
};

// Holds those signals back while it lives: for steps that belong together.
class HoldSignals {
 public:
  HoldSignals();
  ~HoldSignals();
  HoldSignals(const HoldSignals&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace refrain::base
