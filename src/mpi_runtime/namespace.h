// The recorder's parts use the names of this folder as their own.
#pragma once

namespace refrain::mpi_runtime {}

namespace refrain::tracer {
using namespace mpi_runtime;
}
