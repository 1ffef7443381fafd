#include "tracer/startup/trace_path.h"

#include <sys/stat.h>

namespace refrain::tracer {

bool is_there(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0;
}

}  // namespace refrain::tracer
