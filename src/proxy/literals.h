// Texts of a trace as parts of a C++ program: whatever bytes they have, they stay texts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace refrain::proxy {

// A string literal, quotes included.
std::string quoted(std::string_view text);
// As part of a comment of one line.
std::string in_comment(std::string_view text);
// A name of a function, cut down to an identifier that is no word of the language: "step" of
// "Solver<double>::step". Empty where nothing is left.
std::string identifier(std::string_view name);

// `statement` in lines of at most 100 columns, broken behind commas. One that would take more than
// ten lines stays in one.
std::string wrapped(std::string_view statement, size_t indent);

}  // namespace refrain::proxy
