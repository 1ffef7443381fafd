// Results as columns: a dict of NumPy arrays of the same length, which pandas takes as a table.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <optional>

#include "analysis/matrix.h"
#include "refrain/trace.h"

namespace refrain::python {

// source, dest, messages, bytes: one row for each pair of ranks with messages in a window.
pybind11::dict matrix_columns(const Trace& trace, analysis::MatrixKind kind, uint64_t from_ns,
                              uint64_t to_ns);

// rank, thread, seq, call, signature, begin_ns, end_ns: one row for each call of one rank or of all
// that overlaps a window of time, by rank, thread and number. Throws where there are no times.
pybind11::dict timeline_columns(const Trace& trace, std::optional<Rank> rank, uint64_t from_ns,
                                uint64_t to_ns);

}  // namespace refrain::python
