// Reads a small file of a user's whole: a machine file, samples, a plan.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace refrain::base {

// The bytes of `path`. `what` names the file in messages ("machine file"). Fails with kFailed, and
// with the system's reason, where it cannot be read; with kUsage where it has more than
// `most_bytes`, of which no more are read.
Result<std::string> read_text_file(const std::string& path, const char* what, size_t most_bytes);

}  // namespace refrain::base
