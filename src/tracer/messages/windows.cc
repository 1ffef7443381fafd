#include "tracer/messages/windows.h"

#include <new>
#include <utility>

namespace refrain::tracer {

bool WatchedWindows::add(uint64_t key, uint64_t region, const void* memory, uint64_t bytes,
                         From from) {
  WatchedWindow w;
  w.key = key;
  w.region = region;
  w.memory = static_cast<const std::byte*>(memory);
  w.bytes = bytes;
  w.copy.reset(new (std::nothrow) std::byte[bytes]);
  if (w.copy == nullptr) return false;
  if (from == From::kNow)
    std::copy(w.memory, w.memory + bytes, w.copy.get());
  else
    std::fill_n(w.copy.get(), bytes, std::byte{0});
  windows_.push_back(std::move(w));
  return true;
}

bool WatchedWindows::has(uint64_t key, uint64_t region) const {
  return std::any_of(windows_.begin(), windows_.end(),
                     [&](const WatchedWindow& w) { return w.key == key && w.region == region; });
}

void WatchedWindows::remove(uint64_t key) {
  std::erase_if(windows_, [key](const WatchedWindow& w) { return w.key == key; });
  attached_.erase(key);
}

void WatchedWindows::remove_at(uint64_t key, const void* memory) {
  std::erase_if(windows_,
                [&](const WatchedWindow& w) { return w.key == key && w.memory == memory; });
}

void WatchedWindows::mark(uint64_t key, bool is_fenced) {
  for (WatchedWindow& w : windows_) {
    if (w.key != key) continue;
    w.is_fenced = is_fenced;
    w.is_due = true;
  }
}

}  // namespace refrain::tracer
