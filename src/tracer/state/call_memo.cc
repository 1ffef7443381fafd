#include "tracer/state/call_memo.h"

#include <new>

#include "tracer/state/seen_path.h"

namespace refrain::tracer {

bool CallMemo::remember(mpi::CallId id, const SeenPath& from, uint64_t changes,
                        const uint64_t* given, size_t n) {
  if (n > room) {
    auto* more = new (std::nothrow) uint64_t[n];
    if (more == nullptr) return false;
    delete[] words;
    words = more;
    room = static_cast<uint16_t>(n);
  }
  for (size_t i = 0; i < n; ++i) words[i] = given[i];
  count = static_cast<uint16_t>(n);
  call = id;
  path = &from;
  path_definition = from.definition;
  handle_changes = changes;
  return true;
}

CallMemo* CallMemos::make(uint32_t terminal) {
  if (terminal >= size_) {
    room_.resize(size_t{terminal} + 1, nullptr);
    memos_ = room_.data();
    size_ = room_.size();
  }
  CallMemo*& m = memos_[terminal];
  if (m == nullptr) m = new (std::nothrow) CallMemo;
  return m;
}

}  // namespace refrain::tracer
