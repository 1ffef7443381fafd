// Fast iteration over calls from Python: two types made with the C API of CPython, because creating
// an object of a pybind11 class takes longer than reading a call.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>

#include "python/rank.h"

namespace refrain::python {

// Defines Call; to be called once, when the module is loaded and has its Error.
void add_call_types(pybind11::module_& module);

// The calls of one thread, from call `first` on or from the first that ends at `from_ns` or later,
// until call `last` (not it) or the first that begins after `to_ns`.
struct CallRange {
  uint32_t thread = 0;
  uint64_t first = 0, last = UINT64_MAX;
  uint64_t from_ns = 0, to_ns = UINT64_MAX;
};
pybind11::object iterate(std::shared_ptr<RankView> rank, const CallRange& range);

}  // namespace refrain::python
