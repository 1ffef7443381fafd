// Reads the bytes of a trace file, for verbs that look at the file itself and not only at its
// content.
#pragma once

#include <string>

#include "base/result.h"

namespace refrain::reader {

// Reads what Trace::open() would. Errors say what an unfinished run left there instead. A verb that
// needs bytes and Trace reads once and uses Trace::from_bytes(): the file may be replaced
// meanwhile.
base::Result<std::string> read_trace_file(const std::string& path);

}  // namespace refrain::reader
