// Stores into mapped memory that must become visible in program order.
#pragma once

namespace refrain::tracer {

// The compiler moves no store across it.
inline void in_order() { asm volatile("" ::: "memory"); }

}  // namespace refrain::tracer
