#include "analysis/replays/replaced_values.h"

#include "events/buffers/attached.h"

namespace refrain::analysis {

bool ReplacedValues::is_tag(const Value& a, const Value& b) {
  constexpr int64_t kInAllMpis = 32767;
  if (!a.is_integer() || !b.is_integer() || a.number <= kInAllMpis) return false;
  const auto there = tags_.try_emplace(a.number, b.number).first;
  const auto back = tags_back_.try_emplace(b.number, a.number).first;
  return there->second == b.number && back->second == a.number;
}

bool ReplacedValues::is_address(std::string_view parameter, const Value& a, const Value& b) {
  return parameter == "target_disp" && a.is_integer() && b.is_integer() &&
         b.number == events::replayed_address(a.number);
}

bool ReplacedValues::is_type(const Value& a, const Value& b) const {
  if (!a.is_object() || !b.is_object() ||
      original_.info().text_of("mpi") == again_.info().text_of("mpi"))
    return false;
  const auto one = original_.datatype(a.definition()), other = again_.datatype(b.definition());
  return one && other && !one->name.empty() && one->name != other->name &&
         one->size_bytes == other->size_bytes;
}

}  // namespace refrain::analysis
