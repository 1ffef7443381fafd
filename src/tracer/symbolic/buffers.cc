#include "tracer/symbolic/buffers.h"

#include <dlfcn.h>

#include "mpi_runtime/window_memory.h"
#include "tracer/state/process.h"

namespace refrain::tracer {

const HeapTable* g_heap = nullptr;

void connect_heap(Process& p) {
  // By name and not by linking: without --buffers the library is not in the process, and the
  // recorder must load all the same.
  const auto* table = static_cast<const HeapTable*>(dlsym(RTLD_DEFAULT, HeapTable::kSymbol));
  if (table == nullptr) return;
  if (table->version != HeapTable::kVersion)
    return p.lose("buffers_unknown", "librefrain-heap.so is of another version");
  // A block that is allocated anew may have the address of an old one: memos of calls with
  // addresses are then wrong, and this counter ends them.
  table->watch(&p.handle_changes);
  g_heap = table;
}

void disconnect_heap(Process& p) {
  if (g_heap == nullptr) return;
  g_heap->stop();
  if (g_heap->refused() > 0) p.lose("out_of_memory", "index of the heap");
  // Nothing came through malloc: a statically linked or preloaded allocator has answered instead.
  // The trace says so, since its addresses then mean nothing.
  if (!g_heap->used()) p.lose("buffers_unknown", "the program has an allocator of its own");
}

void memory_given(const void* begin, int64_t bytes) {
  if (g_heap != nullptr && begin != nullptr && bytes > 0)
    g_heap->add_area(reinterpret_cast<uintptr_t>(begin), static_cast<size_t>(bytes));
}

void memory_taken(const void* begin) {
  if (g_heap != nullptr) g_heap->remove_area(reinterpret_cast<uintptr_t>(begin));
}

void window_memory_given(uint64_t window) {
  if (g_heap != nullptr) for_each_piece_of_window(window, memory_given);
}

void window_memory_taken(uint64_t window) {
  if (g_heap == nullptr) return;
  for_each_piece_of_window(window, [](const void* begin, int64_t) { memory_taken(begin); });
}

}  // namespace refrain::tracer
