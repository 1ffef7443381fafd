#include "base/text_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace refrain::base {

Result<std::string> read_text_file(const std::string& path, const char* what, size_t most_bytes) {
  const auto cannot = [&] {
    return fail(std::string("cannot read the ") + what + ": " + std::strerror(errno), path);
  };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> in(std::fopen(path.c_str(), "rbe"),
                                                           std::fclose);
  if (in == nullptr) return cannot();
  std::string text;
  char block[1 << 16];
  while (const size_t got = std::fread(block, 1, sizeof block, in.get())) {
    text.append(block, got);
    if (text.size() > most_bytes)
      return usage(
          std::string("a ") + what + " has at most " + std::to_string(most_bytes >> 20) + " MiB",
          path);
  }
  if (std::ferror(in.get()) != 0) return cannot();
  return text;
}

}  // namespace refrain::base
