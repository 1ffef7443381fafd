// Tags and datatypes that a replay under another MPI has in the place of the recorded ones.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "refrain/trace.h"
#include "refrain/value.h"

namespace refrain::analysis {

// Of one rank. The traces outlive it.
class ReplacedValues {
 public:
  ReplacedValues(const Trace& original, const Trace& again) : original_(original), again_(again) {}

  // An MPI need not have tags above 32767 (MPI 4.1, section 9.1.2). Equal ones stay equal, and
  // different ones different.
  bool is_tag(const Value& a, const Value& b);
  // Of a place in a dynamic window, where a replay has attached what the access is about.
  static bool is_address(std::string_view parameter, const Value& a, const Value& b);
  // Predefined ones of one size; in a replay under another MPI.
  bool is_type(const Value& a, const Value& b) const;

 private:
  const Trace& original_;
  const Trace& again_;
  std::unordered_map<int64_t, int64_t> tags_, tags_back_;
};

// Of an array without elements a program may pass a null pointer.
inline bool have_no_elements(const Value& a, const Value& b) {
  const auto has_none = [](const Value& v) {
    return v.is_null() || (v.is_array() && v.size() == 0);
  };
  return has_none(a) && has_none(b);
}

// Whether `fits` holds for two values, or for the elements of two arrays of one length.
template <class Fits>
bool all_pairs(const Value& a, const Value& b, Fits fits) {
  if (!a.is_array()) return fits(a, b);
  if (!b.is_array() || a.size() != b.size()) return false;
  std::vector<Value> found;
  b.for_each([&](const Value& value) { found.push_back(value); });
  size_t i = 0;
  bool good = true;
  a.for_each([&](const Value& value) { good = fits(value, found[i++]) && good; });
  return good;
}

}  // namespace refrain::analysis
