// Names of traces.
#pragma once

#include <string>

#include "base/marked_path.h"

namespace refrain::tracer {

bool is_there(const std::string& path);

using base::marked_path;

}  // namespace refrain::tracer
