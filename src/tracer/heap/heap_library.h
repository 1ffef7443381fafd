// Shared by the parts of librefrain-heap.so.
#pragma once

#include "tracer/heap/heap_names.h"

namespace refrain::tracer {

extern HeapNames g_heap_names;

}  // namespace refrain::tracer
