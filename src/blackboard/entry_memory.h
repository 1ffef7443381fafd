// Memory of entries. An entry is often made by one thread and freed by another, and a heap whose
// memory goes back to where it came from takes a lock, or a line of the cache that both change, for
// each of them. Here a thread keeps what it frees for its own next entries, and gives away what is
// too much in magazines of 64, which threads that lack some take whole (J. Bonwick, J. Adams,
// "Magazines and Vmem", USENIX 2001, section 3).
//
// Threads: all functions at any time, also behind the destructors of the thread.
#pragma once

#include <cstddef>

namespace refrain::blackboard {

// As malloc() aligns it. Null: no memory.
void* take_memory(size_t bytes);
// `bytes` as it was taken with.
void give_memory(void* memory, size_t bytes);
// False with the address sanitizer, which is to see what is freed.
bool keeps_memory();

}  // namespace refrain::blackboard
