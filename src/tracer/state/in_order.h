// Stores into mapped memory that must be there in the order in which they are written.
#pragma once

namespace refrain::tracer {

// The compiler moves no store across it.
inline void in_order() { asm volatile("" ::: "memory"); }

}  // namespace refrain::tracer
