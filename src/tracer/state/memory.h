// Handling of out-of-memory in the recorder: containers cannot report it without exceptions, and
// must not end the program.
//
// If malloc fails, operator new of the recorder (memory.cc) uses a small reserve and reports this;
// from then on calls of the program go directly to MPI and are counted. Code that needs more than
// the reserve checks with memory_for() first.
#pragma once

#include <cstddef>

namespace refrain::tracer {

// What operator new of the recorder has given: now, and at most at any time.
size_t held_memory();
size_t most_memory();

// Whether malloc would give that much just now.
bool memory_for(size_t bytes);

}  // namespace refrain::tracer
