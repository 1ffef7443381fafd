// WatchedWindows: window memory of this rank beside a copy of it, so that changes are found.
//
// A change is found against the copy of the last look. It is of other ranks or, where the program
// has stored there itself meanwhile, of its own; a program that runs alone makes its own again.
//
// A window may have several pieces of memory, its regions: those that are attached to one of
// MPI_Win_create_dynamic, and the parts of other ranks that this one has asked a shared window for.
//
//   windows in a fence or post epoch   a look behind MPI_Win_fence, MPI_Win_wait, MPI_Win_test:
//                                      before these nothing of it is the program's to read
//   others (locks)                     a look behind every call that may have waited
//
// Time and memory: those of the window, at each look. Threads: the caller holds a lock.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

namespace refrain::tracer {

struct WatchedWindow {
  uint64_t key = 0;     // of the handle
  uint64_t region = 0;  // as in a log (docs/format.md, "Message logs")
  const std::byte* memory = nullptr;
  uint64_t bytes = 0;
  std::unique_ptr<std::byte[]> copy;
  bool is_fenced = false;  // it was last used by fences, or by post and start
  bool is_due = false;     // a call of the window itself was just made

  // Calls visit(offset, bytes) for what has changed, and takes it over into the copy. Places that
  // are less than 16 bytes apart are one.
  template <class Visit>
  void look(Visit&& visit);
};

class WatchedWindows {
 public:
  // What the first look compares with: the memory as it is, or zeroes, which is what a rank that
  // runs alone has in the place of another rank's memory.
  enum class From : uint8_t { kNow, kZeroes };

  // False: no memory for a copy.
  bool add(uint64_t key, uint64_t region, const void* memory, uint64_t bytes, From from);
  bool has(uint64_t key, uint64_t region) const;
  void remove(uint64_t key);
  void remove_at(uint64_t key, const void* memory);
  // How many regions were attached to the window before.
  uint64_t next_attached(uint64_t key) { return attached_[key]++; }
  // An epoch of the window begins or ends.
  void mark(uint64_t key, bool is_fenced);
  bool empty() const { return windows_.empty(); }
  auto begin() { return windows_.begin(); }
  auto end() { return windows_.end(); }

 private:
  std::vector<WatchedWindow> windows_;
  std::unordered_map<uint64_t, uint64_t> attached_;  // by key
};

template <class Visit>
void WatchedWindow::look(Visit&& visit) {
  constexpr uint64_t kPage = 4096, kApart = 16;
  uint64_t first = 0, last = 0;  // of the changes that are one
  const auto hand_on = [&] {
    if (last == first) return;
    std::copy(memory + first, memory + last, copy.get() + first);
    visit(first, std::span<const std::byte>(copy.get() + first, last - first));
    first = last = 0;
  };
  for (uint64_t page = 0; page < bytes; page += kPage) {
    const uint64_t end = std::min(page + kPage, bytes);
    if (std::equal(memory + page, memory + end, copy.get() + page)) continue;
    for (uint64_t at = page; at < end; ++at) {
      if (memory[at] == copy[at]) continue;
      if (last > first && at >= last + kApart) hand_on();
      if (last == first) first = at;
      last = at + 1;
    }
  }
  hand_on();
}

}  // namespace refrain::tracer
