// Columns: one number of all members of a family. The mirror image of encode/columns.h.
#pragma once

#include <cstdint>
#include <vector>

#include "format/decode/field_reader.h"
#include "format/layout.h"

namespace refrain::format {

inline int64_t wrapping_add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

class ColumnReader {
 public:
  explicit ColumnReader(FieldReader& in) : in_(in) {}

  // The numbers of all members, as many as there are; empty when that failed.
  std::vector<int64_t> index(const char* label, int64_t family, uint64_t members,
                             int64_t* previous = nullptr) {
    return read(label, family, members, true, previous);
  }
  std::vector<int64_t> number(const char* label, int64_t family, uint64_t members,
                              int64_t* previous = nullptr) {
    return read(label, family, members, false, previous);
  }
  // index(), behind what is there: for columns of which there are millions. False: that failed.
  bool append_index(const char* label, int64_t family, uint64_t members, int64_t* previous,
                    std::vector<int64_t>& values) {
    return append(label, family, members, true, previous, values);
  }
  ColumnMode mode() const { return mode_; }  // of the last one

 private:
  std::vector<int64_t> read(const char* label, int64_t family, uint64_t members, bool is_index,
                            int64_t* previous) {
    std::vector<int64_t> values;
    if (!append(label, family, members, is_index, previous, values)) values.clear();
    return values;
  }

  bool append(const char* label, int64_t family, uint64_t members, bool is_index, int64_t* previous,
              std::vector<int64_t>& values) {
    const size_t begin = in_.position();
    const uint8_t mode = in_.u8("column of", family);
    mode_ = static_cast<ColumnMode>(mode);
    const int64_t before = previous != nullptr ? *previous : 0;
    if (mode >= kColumnModes || (mode_ == ColumnMode::kAsBefore && previous == nullptr) ||
        (mode_ == ColumnMode::kWide && members > kMaxWideMembers))
      in_.fail(kRuleFields, begin, "unknown form of a column");
    if (!in_.ok()) return false;
    switch (mode_) {
      case ColumnMode::kAsBefore: values.insert(values.end(), members, before); break;
      case ColumnMode::kConstant:
        values.insert(values.end(), members,
                      is_index ? wrapping_add(before, in_.zigzag(label, family))
                               : in_.wide_zigzag(label, family));
        break;
      case ColumnMode::kList: {
        const base::RunList list = in_.runs(label, members, family);
        if (in_.ok() && list.size() != members)
          in_.fail(kRuleFields, begin, "a list that is not as long as its family");
        for (const auto& run : list.runs()) {
          for (uint64_t i = 0; i < run.count; ++i)
            values.push_back(static_cast<int64_t>(static_cast<uint64_t>(run.start) +
                                                  static_cast<uint64_t>(run.step) * i));
        }
        break;
      }
      default: each(label, family, members, before, values);
    }
    if (!in_.ok()) return false;
    if (previous != nullptr) *previous = values.back();
    return true;
  }

  void each(const char* label, int64_t family, uint64_t members, int64_t last,
            std::vector<int64_t>& values) {
    for (uint64_t i = 0; i < members && in_.ok(); ++i) {
      if (mode_ == ColumnMode::kWide) {
        values.push_back(in_.wide_zigzag(label, family));
        continue;
      }
      const int64_t v = in_.zigzag(label, family);
      last = mode_ == ColumnMode::kDifferences ? wrapping_add(last, v) : v;
      values.push_back(last);
    }
  }

  FieldReader& in_;
  ColumnMode mode_{};
};

}  // namespace refrain::format
