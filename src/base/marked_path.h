// Names of traces that belong to another one.
#pragma once

#include <string>

namespace refrain::base {

// run.rfn and ".1" -> run.1.rfn
inline std::string marked_path(const std::string& path, const std::string& mark) {
  const size_t slash = path.rfind('/') + 1, dot = path.rfind('.');
  const size_t at = dot == std::string::npos || dot <= slash ? path.size() : dot;
  return path.substr(0, at) + mark + path.substr(at);
}

}  // namespace refrain::base
