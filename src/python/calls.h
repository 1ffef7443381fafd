// Fast iteration over calls from Python: two types made with the C API of CPython, because creating
// an object of a pybind11 class takes longer than reading a call.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>

#include "analysis/window.h"
#include "python/rank.h"

namespace refrain::python {

// Defines Call; to be called once, when the module is loaded and has its Error.
void add_call_types(pybind11::module_& module);

// The calls of one thread that the range lists.
pybind11::object iterate(std::shared_ptr<RankView> rank, uint32_t thread,
                         const analysis::CallRange& range);

}  // namespace refrain::python
