// Reads the fields of one section and remembers the first error. On request it also writes a
// description of every byte.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/runs.h"
#include "format/decode/decode.h"
#include "format/limits.h"

namespace refrain::format {

// "52 46 4e"; long ranges are cut.
std::string hex_of(std::string_view bytes);

class FieldReader {
 public:
  // `numbers` is the section of that name, null where none are needed; it is shared, in order.
  // `base`: what offset the first byte has, in the file or (in_raw) in the decompressed section.
  // `lines` may be null. Labels are literals; an index is appended as "label 17".
  FieldReader(std::string_view raw, std::string section, uint64_t base, bool in_raw,
              std::vector<ByteLine>* lines, FieldReader* numbers = nullptr)
      : raw_(raw),
        in_(raw),
        section_(std::move(section)),
        base_(base),
        in_raw_(in_raw),
        lines_(lines),
        numbers_(numbers) {}

  bool ok() const { return !finding_.has_value(); }
  bool tracing() const { return lines_ != nullptr; }
  uint64_t remaining() const { return in_.remaining(); }
  size_t position() const { return in_.position(); }

  uint8_t u8(const char* label, int64_t index = -1);
  uint16_t u16(const char* label, int64_t index = -1);
  uint32_t u32(const char* label, int64_t index = -1);
  uint64_t u64(const char* label, int64_t index = -1);
  uint64_t varint(const char* label, int64_t index = -1, uint64_t limit = UINT64_MAX);
  int64_t zigzag(const char* label, int64_t index = -1);
  // A number of items that take a byte at least each.
  uint64_t count(const char* label, uint64_t limit, int64_t index = -1);
  std::string_view bytes(const char* label, uint64_t n, int64_t index = -1);
  std::string_view string(const char* label, uint64_t limit, int64_t index = -1);
  base::RunList runs(const char* label, uint64_t max_values, int64_t index = -1);
  // From the numbers section.
  uint64_t wide(const char* label, int64_t index = -1, uint64_t limit = UINT64_MAX);
  int64_t wide_zigzag(const char* label, int64_t index = -1);
  uint64_t wide_u64(const char* label, int64_t index = -1);
  // A varint here, or from `from` on a wide number.
  uint64_t scaled(const char* label, uint64_t limit, int64_t index = -1,
                  uint64_t from = kScaledFrom);
  base::ByteReader& number_bytes() { return numbers_->in_; }
  // After a part of the numbers was read from number_bytes(), which began at number_position().
  size_t number_position() const { return numbers_->position(); }
  void numbers_done(size_t begin, const char* label, int64_t index);

  // For what another reader takes from the bytes: begin = position(), read from bytes(), done().
  base::ByteReader& bytes() { return in_; }
  void done(size_t begin, const char* label, int64_t index, const std::string& meaning);

  // Marks the field that began at raw position `begin` as wrong; later reads give 0.
  void fail(int rule, size_t begin, const std::string& text);
  // All bytes must have been used.
  void finish();
  const std::optional<Finding>& finding() const { return finding_; }

 private:
  void note(size_t begin, const char* label, int64_t index, const std::string& value);
  // What was read from the numbers section, or 0 when that failed.
  template <class T>
  T number_taken(size_t begin, const char* label, int64_t index, T v);
  template <class T>
  T checked(size_t begin, const char* label, int64_t index, T value);
  // `begin`: of the field, whose length may stand before its bytes.
  std::string_view bytes_from(size_t begin, const char* label, uint64_t n, int64_t index);

  std::string_view raw_;
  base::ByteReader in_;
  std::string section_;
  uint64_t base_;
  bool in_raw_;
  std::vector<ByteLine>* lines_;
  FieldReader* numbers_;
  std::optional<Finding> finding_;
  uint64_t repeated_budget_ = kMaxRepeatedRunsPerSection;
};

}  // namespace refrain::format
