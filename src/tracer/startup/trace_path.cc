#include "tracer/startup/trace_path.h"

#include <sys/stat.h>

namespace refrain::tracer {

std::string marked_path(const std::string& path, const std::string& mark) {
  const size_t slash = path.rfind('/') + 1, dot = path.rfind('.');
  const size_t at = dot == std::string::npos || dot <= slash ? path.size() : dot;
  return path.substr(0, at) + mark + path.substr(at);
}

bool is_there(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0;
}

}  // namespace refrain::tracer
