#include "mpi/size_bounds.h"

#include <string>

#include "base/byte_size.h"

namespace refrain::mpi {

base::Result<SizeBounds> SizeBounds::parse(std::string_view min, std::string_view max) {
  SizeBounds bounds;
  const auto read = [](const char* option, std::string_view word, uint64_t* bytes) -> base::Status {
    const auto size = base::parse_bytes(word);
    if (!word.empty() && !size)
      return base::usage(std::string(option) + ": '" + std::string(word) +
                         "' is not a size, such as 64K");
    if (size) *bytes = *size;
    return base::Done{};
  };
  if (const auto good = read("--min-bytes", min, &bounds.min); !good.ok()) return good.error();
  if (const auto good = read("--max-bytes", max, &bounds.max); !good.ok()) return good.error();
  if (bounds.min > bounds.max)
    return base::usage("--min-bytes " + std::string(min) + " is more than --max-bytes " +
                       std::string(max) + ": no message is left");
  return bounds;
}

}  // namespace refrain::mpi
