// Values of parameters as Python objects.
//
//   integer -> int, null -> None, string -> str, bytes -> bytes (also a string that is no UTF-8),
//   array -> list, status -> dict, anything that has a name -> str, as `refrain dump` writes it
//
// An inout parameter that changed is its value at exit. All need the interpreter's lock.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>

#include "refrain/calls.h"
#include "refrain/trace.h"

namespace refrain::python {

// Throws RefrainError where an array has more than kMaxElements elements: a small file may stand
// for very long ones.
inline constexpr uint64_t kMaxElements = uint64_t{1} << 24;
pybind11::object to_python(const Value& value, const Trace& trace);

}  // namespace refrain::python
