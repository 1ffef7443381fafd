// What the recorder does when the system has no more memory for it: containers cannot report that
// without exceptions, and must not end the program.
//
// operator new of the recorder (memory.cc) takes what malloc refuses from a small reserve, and says
// so; from then on calls of the program pass straight through, and are counted. What may be larger
// than the reserve is asked for first: memory_for().
#pragma once

#include <cstddef>

namespace refrain::tracer {

// What operator new of the recorder has given: now, and at most at any time.
size_t held_memory();
size_t most_memory();

// Whether malloc would give that much just now.
bool memory_for(size_t bytes);

}  // namespace refrain::tracer
