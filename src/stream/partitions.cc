#include "stream/partitions.h"

#include <unordered_map>

namespace refrain::stream {
namespace {

// FNV-1a. Ranks compare the texts afterwards, so a collision is noticed.
uint64_t hash(uint64_t h, std::string_view text) {
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return h;
}

}  // namespace

uint64_t partition_key(std::string_view name, std::string_view command_line) {
  constexpr uint64_t kOffset = 0xcbf29ce484222325u;
  return name.empty() ? hash(hash(kOffset, "c"), command_line) : hash(hash(kOffset, "n"), name);
}

std::vector<Partition> partitions_of(const std::vector<uint64_t>& keys) {
  std::vector<Partition> partitions;
  std::unordered_map<uint64_t, size_t> of_key;
  for (size_t rank = 0; rank < keys.size(); ++rank) {
    const auto [place, is_new] = of_key.emplace(keys[rank], partitions.size());
    if (is_new) partitions.emplace_back();
    partitions[place->second].ranks.push_back(static_cast<int>(rank));
  }
  return partitions;
}

std::string command_line_of(std::string_view words) {
  while (!words.empty() && words.back() == '\0') words.remove_suffix(1);
  std::string line(words.substr(0, kMostName));
  for (char& c : line)
    if (c == '\0') c = ' ';
  return line;
}

}  // namespace refrain::stream
