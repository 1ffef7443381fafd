// Bytes of a call, from the counts and datatypes among its parameters.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "refrain/calls.h"
#include "refrain/trace.h"

namespace refrain::events {

// A parameter at entry, by name or by its place in the C binding; a null value where there is no
// such one. Lives as long as the call.
const Value& argument(const Signature& call, std::string_view name);
const Value& argument(const Signature& call, int position);

// Whether this rank is the root that a call names; in an inter-communicator, of its own side.
bool is_root(const Value& root, const Communicator& comm);

// Products and sums that stop at the largest number instead of wrapping: a damaged trace may say
// that 2^63 elements were sent.
uint64_t multiply(uint64_t a, uint64_t b);
uint64_t add(uint64_t a, uint64_t b);

// Sum of an array of counts; a single count is its own sum. A negative count is 0, and so is a run
// of counts that ends or begins below 0. O(runs).
uint64_t sum_of_counts(const Value& counts);

// Size of one element of a datatype parameter; nothing when the trace does not tell.
std::optional<uint64_t> element_bytes(const Trace& trace, const Value& type);

// Sum of counts[i] * size(types[i]). O(runs of both).
std::optional<uint64_t> sum_of_products(const Trace& trace, const Value& counts,
                                        const Value& types);

}  // namespace refrain::events
