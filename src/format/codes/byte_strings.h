// ByteStrings: a list of byte strings in one piece of memory, for lists of very many short ones: a
// std::string for each would take more memory than most of them have bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace refrain::format {

class ByteStrings {
 public:
  ByteStrings() = default;
  ByteStrings(std::initializer_list<std::string_view> all) {
    for (const std::string_view s : all) push_back(s);
  }

  size_t size() const { return ends_.size(); }
  bool empty() const { return ends_.empty(); }
  // Good until the list changes.
  std::string_view operator[](size_t i) const {
    const size_t begin = i == 0 ? 0 : ends_[i - 1];
    return {bytes_.data() + begin, ends_[i] - begin};
  }
  // How many bytes of others stand behind the end of number i, which may be loaded with it.
  size_t bytes_behind(size_t i) const { return bytes_.size() - ends_[i]; }
  size_t total_bytes() const { return bytes_.size(); }

  void push_back(std::string_view s) {
    bytes_.append(s);
    ends_.push_back(bytes_.size());
  }
  void emplace_back(std::string_view s) { push_back(s); }
  void reserve(size_t strings, size_t bytes) {
    ends_.reserve(strings);
    bytes_.reserve(bytes);
  }
  // Leaves the first n, of more.
  void shrink_to(size_t n) {
    if (n >= size()) return;
    bytes_.resize(n == 0 ? 0 : ends_[n - 1]);
    ends_.resize(n);
  }

 private:
  std::string bytes_;
  std::vector<size_t> ends_;
};

}  // namespace refrain::format
