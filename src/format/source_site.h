// Call sites in source files of an interpreted language, which have no module of machine code.
//
// A function in such a file is represented as a module (DefinitionKind::kModule): its path is that
// of the file, its build id is "@" and the name of the function, and the offsets of its sites are
// line numbers.
#pragma once

#include <string>
#include <string_view>

namespace refrain::format {

inline std::string source_build_id(std::string_view function) {
  std::string out(1, '@');
  out += function;
  return out;
}

inline bool is_source(std::string_view build_id) { return !build_id.empty() && build_id[0] == '@'; }
// Of what is_source().
inline std::string_view source_function(std::string_view build_id) { return build_id.substr(1); }

}  // namespace refrain::format
