// Functions and inlined calls around an address, from debug information.
#pragma once

#include <elfutils/libdw.h>

#include <unordered_map>
#include <vector>

namespace refrain::reader {

// Of one module. dwarf_getscopes() looks at all entries of a compilation unit for each address,
// which a unit of C++ templates has a hundred thousand of: here they are looked at once.
class CodeScopes {
 public:
  // From the inside: calls that were inlined, and blocks, up to the function that holds them all.
  // Empty: the unit has none at this address.
  std::vector<Dwarf_Die> around(Dwarf_Die* unit, Dwarf_Addr address);

 private:
  struct Range {
    Dwarf_Addr begin = 0, end = 0;
    Dwarf_Die function{};
  };
  using Ranges = std::vector<Range>;  // by begin; functions share no code
  static void add_functions(Dwarf_Die& scope, Ranges& out, int depth);

  std::unordered_map<Dwarf_Off, Ranges> units_;
};

}  // namespace refrain::reader
