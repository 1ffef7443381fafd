// Numbers of the page that are too many for JSON text: named columns in one compact run of bytes.
//
// A column is a sequence of integers as zigzag varints, of each or of its difference to the one
// before, whatever is shorter; or bytes as they are. Whoever reads it needs the directory.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace refrain::report {

class Columns {
 public:
  // Every name once.
  void put(std::string name, std::vector<int64_t> values);
  void put_bytes(std::string name, std::string bytes);

  // name -> {"kind": "plain", "delta" or "bytes", "count", "from", "bytes"}; offsets into bytes().
  nlohmann::ordered_json directory() const { return directory_; }
  const std::string& bytes() const { return bytes_; }
  // What was put under a name; empty for a name that is not there.
  const std::vector<int64_t>& numbers(std::string_view name) const;
  const std::string& raw(std::string_view name) const;
  // name -> list of numbers, for programs.
  nlohmann::ordered_json lists() const;

 private:
  nlohmann::ordered_json directory_ = nlohmann::ordered_json::object();
  std::string bytes_;
  std::vector<std::pair<std::string, std::vector<int64_t>>> numbers_;
  std::vector<std::pair<std::string, std::string>> raw_;
};

// `bytes` as raw deflate, and as base64 text.
std::string deflated(std::string_view bytes);
std::string base64(std::string_view bytes);

}  // namespace refrain::report
