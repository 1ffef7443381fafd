#include "reader/code_scopes.h"

#include <dwarf.h>

#include <algorithm>
#include <cstddef>

namespace refrain::reader {
namespace {

constexpr int kMostDepth = 100;  // of entries in entries; a damaged file may have any

// Scopes of code that may stand in a function.
bool is_in_functions(int tag) {
  return tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block ||
         tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
}

// What may have functions in it.
bool holds_functions(int tag) {
  return tag == DW_TAG_namespace || tag == DW_TAG_class_type || tag == DW_TAG_structure_type ||
         tag == DW_TAG_union_type || tag == DW_TAG_module || tag == DW_TAG_subprogram ||
         tag == DW_TAG_lexical_block;
}

// The next scope inwards that has the address.
bool next_inwards(Dwarf_Die& scope, Dwarf_Addr address, Dwarf_Die& out) {
  Dwarf_Die child;
  for (int left = dwarf_child(&scope, &child); left == 0; left = dwarf_siblingof(&child, &child)) {
    if (!is_in_functions(dwarf_tag(&child)) || dwarf_haspc(&child, address) <= 0) continue;
    out = child;
    return true;
  }
  return false;
}

}  // namespace

void CodeScopes::add_functions(Dwarf_Die& scope, Ranges& out, int depth) {
  Dwarf_Die child;
  if (depth > kMostDepth || dwarf_child(&scope, &child) != 0) return;
  do {
    const int tag = dwarf_tag(&child);
    if (tag == DW_TAG_subprogram) {
      Dwarf_Addr base = 0, begin = 0, end = 0;
      for (ptrdiff_t at = 0; (at = dwarf_ranges(&child, at, &base, &begin, &end)) > 0;)
        out.push_back({begin, end, child});
    }
    if (holds_functions(tag)) add_functions(child, out, depth + 1);
  } while (dwarf_siblingof(&child, &child) == 0);
}

std::vector<Dwarf_Die> CodeScopes::around(Dwarf_Die* unit, Dwarf_Addr address) {
  const auto [known, is_new] = units_.try_emplace(dwarf_dieoffset(unit));
  Ranges& ranges = known->second;
  if (is_new) {
    add_functions(*unit, ranges, 0);
    std::stable_sort(ranges.begin(), ranges.end(),
                     [](const Range& a, const Range& b) { return a.begin < b.begin; });
  }
  const auto behind =
      std::upper_bound(ranges.begin(), ranges.end(), address,
                       [](Dwarf_Addr value, const Range& range) { return value < range.begin; });
  std::vector<Dwarf_Die> out;
  if (behind == ranges.begin() || address >= std::prev(behind)->end) return out;
  out.push_back(std::prev(behind)->function);
  for (Dwarf_Die inner; out.size() < kMostDepth && next_inwards(out.back(), address, inner);)
    out.push_back(inner);
  std::reverse(out.begin(), out.end());
  return out;
}

}  // namespace refrain::reader
