// Activity: a progress line on a terminal, shown when a verb has run for more than a second.
//
//   refrain waits: 3 s, 1 200 000 calls read
//   refrain report: heat.rfn: timeline, 3 s, 1 200 000 calls read
//   refrain convert: [########        ]  52 %, 8 s, 7 s left
//
// A separate thread draws the line and erases it before the verb prints. If stderr is no terminal,
// nothing is drawn and no thread runs. `record` has no Activity, because it executes the program in
// its place.
#pragma once

#include <cstdint>
#include <string>

namespace refrain::cli {

class Activity {
 public:
  // Begins; ends with the object. One at a time.
  explicit Activity(const std::string& verb);
  ~Activity();
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;

  // What the verb does now; any thread, at no cost worth a thought.
  static void step(const std::string& what);
  // How far it is, where that is known; begins anew with the next step.
  static void share(uint64_t done, uint64_t all);

  // Before anything is printed on the same terminal: wipes the line, for good when `over`.
  static void wipe(bool over);
};

}  // namespace refrain::cli
