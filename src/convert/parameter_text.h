// Parameters as text, as the formats of one cell a value have them.
#pragma once

#include <string>

#include "refrain/calls.h"
#include "refrain/trace.h"

namespace refrain::convert {

// Numbers, names and strings as they are, nothing for null; arrays, statuses and bytes as JSON, and
// so is a string that is no UTF-8.
std::string plain_text(const Trace& trace, const Value& value);

// {"count":4,"datatype":"MPI_INT"}: args of `refrain dump --format jsonl`.
std::string arguments_json(const Trace& trace, const Signature& call);

}  // namespace refrain::convert
