#include "tracer/code/unloads.h"

namespace refrain::tracer {

std::atomic<uint32_t> g_unloads{0};

}  // namespace refrain::tracer
