// Reads a file of a user's whole: a machine file, samples, a plan, computation vectors.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace refrain::base {

// The bytes of `path`. `what` names the file in messages ("machine file"). Fails with kFailed, and
// with the system's reason, where it cannot be read; with kUsage where it has more than
// `most_bytes`, of which no more are read.
Result<std::string> read_text_file(const std::string& path, const char* what, size_t most_bytes);

// The bytes of `path`, however many, which are as many as the file has. Fails with kFailed also
// where it is no regular file: a device such as /dev/full has no end, and a pipe may have no
// writer.
Result<std::string> read_regular_file(const std::string& path, const char* what);

}  // namespace refrain::base
