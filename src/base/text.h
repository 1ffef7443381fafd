// Texts that the recorder and the reports write: names of files, counts with their noun. They share
// these functions so that both write them alike.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace refrain::base {

// "/usr/bin/lmp" -> "lmp"
inline std::string base_name(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

// "14 544"
inline std::string count_text(uint64_t count) {
  std::string text = std::to_string(count);
  for (size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ' ');
  return text;
}

// "14 544 calls", "1 call"
inline std::string counted_text(uint64_t count, std::string_view noun) {
  std::string text = count_text(count) + ' ';
  text += noun;
  return count == 1 ? text : text + 's';
}

}  // namespace refrain::base
