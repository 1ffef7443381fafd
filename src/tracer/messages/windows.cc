#include "tracer/messages/windows.h"

#include <new>
#include <utility>

namespace refrain::tracer {

bool WatchedWindows::add(uint64_t key, const void* memory, uint64_t bytes) {
  WatchedWindow w;
  w.key = key;
  w.memory = static_cast<const std::byte*>(memory);
  w.bytes = bytes;
  w.copy.reset(new (std::nothrow) std::byte[bytes]);
  if (w.copy == nullptr) return false;
  std::copy(w.memory, w.memory + bytes, w.copy.get());
  windows_.push_back(std::move(w));
  return true;
}

void WatchedWindows::remove(uint64_t key) {
  std::erase_if(windows_, [key](const WatchedWindow& w) { return w.key == key; });
}

WatchedWindow* WatchedWindows::find(uint64_t key) {
  for (WatchedWindow& w : windows_)
    if (w.key == key) return &w;
  return nullptr;
}

}  // namespace refrain::tracer
