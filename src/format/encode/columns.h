// Columns of numbers: one number of all members of a family. The writer takes the form with the
// fewest bytes among those in which a regular column does not grow with its length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "format/layout.h"

namespace refrain::format {

class ColumnWriter {
 public:
  ColumnWriter(base::ByteWriter& fields, base::ByteWriter& numbers)
      : fields_(fields), numbers_(numbers) {}

  // `previous`, where there is one, is what the column is compared with; it becomes the last value.
  ColumnMode index(const std::vector<int64_t>& values, int64_t* previous = nullptr) {
    return put(values, true, previous);
  }
  ColumnMode number(const std::vector<int64_t>& values, int64_t* previous = nullptr) {
    return put(values, false, previous);
  }
  // As either of them, of a column in which `members` have this value, without a list of them.
  ColumnMode constant(int64_t value, size_t members, bool is_index, int64_t* previous);
  // Where members are equal by chance only (the sides of a mesh), and that must not save bytes.
  ColumnMode distinct(const std::vector<int64_t>& values);
  // From now on every member takes a byte at least: for families that are larger than a reader
  // would take for a few bytes.
  void set_plain(bool plain) { is_plain_ = plain; }
  // A number that is mostly small.
  void scaled(uint64_t v, uint64_t from = kScaledFrom);

 private:
  ColumnMode put(const std::vector<int64_t>& values, bool is_index, int64_t* previous);
  ColumnMode mode(ColumnMode m) {
    fields_.put_u8(static_cast<uint8_t>(m));
    return m;
  }

  base::ByteWriter& fields_;
  base::ByteWriter& numbers_;
  bool is_plain_ = false;
};

}  // namespace refrain::format
