// Splitter: splits many signatures in inline form into shapes and values.
//
// If no call repeats, nearly every signature still has the shape of an earlier one. So its bytes
// are compared with a pattern (the bytes between slots and requests) instead of being walked.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "format/codes/paged_array.h"
#include "format/signatures/shape_table.h"

namespace refrain::format {

class Splitter {
 public:
  // Shapes are added to `shapes`, which must outlive this.
  explicit Splitter(ShapeTable& shapes) : shapes_(shapes) {}

  // False: the bytes are no signature. Arrays are folded (format/signatures/arrays.h).
  bool split(std::string_view inline_form);
  // The same, with the values behind those of `to`. False: nothing was added, and split() may say
  // more; definitions are below `definitions`. `behind`: so many bytes more may be loaded.
  bool split_onto(std::string_view inline_form, size_t behind, uint32_t definitions,
                  NumberArray& to);
  // Of the last one, good until the next.
  uint32_t shape() const { return shape_; }
  const std::vector<int64_t>& values() const { return values_; }

 private:
  enum class Hole : uint8_t { kInt, kDefinition, kRequest };
  struct Step {
    uint64_t text = 0, mask = 0;  // bytes as they are loaded, and which of them count
    uint32_t length = 0;          // of the text
    bool is_definition = false;
  };
  struct Pattern {
    std::string text;            // without the holes
    std::vector<uint32_t> ends;  // in it: where each hole is
    std::vector<Hole> holes;
    size_t slots = 0;  // holes that are not requests
    bool has_requests = false;
    size_t bytes = 0;  // of the signature it was learned from
    uint32_t shape = 0;
    uint32_t used = 0;  // when it last was the one
    // The same for take_words(): a hole and the text before it; empty where such a text is longer
    // than kStepText or a hole is a request.
    std::vector<Step> steps;
  };
  class Finder;

  static bool is_unlikely(const Pattern& pattern, std::string_view bytes);
  bool matches(const Pattern& pattern, std::string_view bytes);
  static std::vector<Step> steps_of(const Pattern& pattern);
  static bool take_words(const Pattern& pattern, std::string_view bytes, uint32_t definitions,
                         uint32_t* to);
  static bool take_padded(const Pattern& pattern, std::string_view bytes, uint32_t definitions,
                          uint32_t* to);
  bool walk(std::string_view bytes);
  void learn(std::string_view bytes);

  static constexpr size_t kPatterns = 16;
  static constexpr size_t kStepText = sizeof(uint64_t);
  static constexpr size_t kLoad = sizeof(uint64_t);
  ShapeTable& shapes_;
  std::vector<Pattern> patterns_;
  uint32_t shape_ = 0, clock_ = 0;
  std::vector<int64_t> values_;
  std::vector<uint32_t> requests_;
  std::string shape_bytes_;
};

}  // namespace refrain::format
