#include "tracer/buffers.h"

#include <dlfcn.h>

#include "real_functions.h"
#include "tracer/process.h"

namespace refrain::tracer {

const HeapTable* g_heap = nullptr;

void connect_heap(Process& p) {
  const auto* table = static_cast<const HeapTable*>(dlsym(RTLD_DEFAULT, HeapTable::kSymbol));
  if (table == nullptr) return;
  if (table->version != HeapTable::kVersion)
    return p.lose("buffers_unknown", "librefrain-heap.so is of another version");
  table->watch(&p.handle_changes);
  g_heap = table;
}

void disconnect_heap(Process& p) {
  if (g_heap == nullptr) return;
  g_heap->stop();
  if (g_heap->refused() > 0) p.lose("out_of_memory", "index of the heap");
  if (!g_heap->used()) p.lose("buffers_unknown", "the program has an allocator of its own");
}

void memory_given(const void* begin, int64_t bytes) {
  if (g_heap != nullptr && begin != nullptr && bytes > 0)
    g_heap->add_area(reinterpret_cast<uintptr_t>(begin), static_cast<size_t>(bytes));
}

void memory_taken(const void* begin) {
  if (g_heap != nullptr) g_heap->remove_area(reinterpret_cast<uintptr_t>(begin));
}

namespace {

// Calls visit(begin, bytes) for each piece of memory that came with the window.
template <class Visit>
void for_each_piece(MPI_Win win, Visit visit) {
  const auto attribute = [win](int keyval) -> void* {
    void* value = nullptr;
    int flag = 0;
    const int rc = REFRAIN_REAL(PMPI_Win_get_attr)(win, keyval, &value, &flag);
    return rc == MPI_SUCCESS && flag != 0 ? value : nullptr;
  };
  const auto* flavor = static_cast<const int*>(attribute(MPI_WIN_CREATE_FLAVOR));
  if (flavor == nullptr) return;
  if (*flavor == MPI_WIN_FLAVOR_ALLOCATE) {
    const auto* bytes = static_cast<const MPI_Aint*>(attribute(MPI_WIN_SIZE));
    if (bytes != nullptr) visit(attribute(MPI_WIN_BASE), *bytes);
    return;
  }
  if (*flavor != MPI_WIN_FLAVOR_SHARED) return;
  MPI_Group group = MPI_GROUP_NULL;
  int ranks = 0;
  if (REFRAIN_REAL(PMPI_Win_get_group)(win, &group) != MPI_SUCCESS) return;
  REFRAIN_REAL(PMPI_Group_size)(group, &ranks);
  REFRAIN_REAL(PMPI_Group_free)(&group);
  for (int r = 0; r < ranks; ++r) {
    MPI_Aint bytes = 0;
    int unit = 0;
    void* base = nullptr;
    if (REFRAIN_REAL(PMPI_Win_shared_query)(win, r, &bytes, &unit, &base) == MPI_SUCCESS)
      visit(base, bytes);
  }
}

}  // namespace

void window_memory_given(MPI_Win win) {
  if (g_heap != nullptr) for_each_piece(win, memory_given);
}

void window_memory_taken(MPI_Win win) {
  if (g_heap == nullptr) return;
  for_each_piece(win, [](const void* begin, int64_t) { memory_taken(begin); });
}

}  // namespace refrain::tracer
