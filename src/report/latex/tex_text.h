// Text and numbers in a LaTeX document.
//
// Of a text from a trace, only letters and digits are passed to TeX unchanged. Every other
// character is written by its number in the typewriter font, or replaced. So a name can neither end
// a group nor start a command, whatever bytes it has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace refrain::report::latex {

using Json = nlohmann::ordered_json;

// Any bytes, in typewriter type, with chances to break the line. Control characters and what is no
// UTF-8 become '?', characters beyond ASCII "<U+00E9>". Of more than `most` characters the middle
// is left out.
std::string code(std::string_view text, size_t most = 200);

// Any bytes where commands have no place (the document's properties): what is not a letter, a
// digit or one of " ./-+:,()" becomes '?'.
std::string bare(std::string_view text, size_t most = 200);

// A number with its unit: spaces become thin ones, where no line ends. What TeX would take for a
// command is escaped.
std::string number(std::string_view text);

// Words of our own, of ASCII, with spaces where lines may end. Names with an underscore are code.
std::string words(std::string_view text);

// Numbers for people; what is no number is "-". Those of times are in ns.
std::string duration(const Json& value);
std::string count(const Json& value);
std::string bytes(const Json& value);
std::string share(const Json& value);  // of 1, in percent

// "1 rank", "2 ranks".
std::string counted(const Json& value, const std::string& noun);

// The number of a JSON value; 0 for none, for null, and for less than 0.
uint64_t whole(const Json& value);
double real(const Json& value);
// The text of a JSON value, "" for null.
std::string text(const Json& value);

}  // namespace refrain::report::latex
