// Parameters as text, as the formats of one cell a value have them.
#pragma once

#include <string>

#include "convert/job.h"
#include "refrain/calls.h"

namespace refrain::convert {

// A small file may stand for very long arrays. What is longer is left out and counted.
inline constexpr size_t kMostParameterBytes = size_t{16} << 20;

// Numbers, names and strings as they are, nothing for null; arrays, statuses and bytes as JSON, and
// so is a string that is no UTF-8.
std::string plain_text(Job& job, const Value& value);

// {"count":4,"datatype":"MPI_INT"}: args of `refrain dump --format jsonl`.
std::string arguments_json(Job& job, const Signature& call);

}  // namespace refrain::convert
