// Call sites in source files that an interpreter runs: there is no module of machine code.
//
// A function in such a file is a module (DefinitionKind::kModule), too: its path is the file's,
// what stands for the build id is "@" and the function's name, and offsets of its sites are lines.
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
