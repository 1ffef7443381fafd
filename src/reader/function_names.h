// Readable names of functions: C++ names are demangled, and long template arguments are shortened.
//
//   readable_name("_ZN4GridIdLi3EE8exchangeEi")  ->  "Grid<double, 3>::exchange"
//   folded_name("Grid<double, 3>::exchange")     ->  "Grid<…>::exchange"
//
// Both take any bytes: names come from files. Pure functions, for any thread.
#pragma once

#include <string>
#include <string_view>

namespace refrain::reader {

// A name of a symbol table: qualified and with its template arguments, without parameters and type
// of the result, and without what the compiler appends to parts and clones of a function. What is
// no mangled C++ name stays as it is, but for the latter.
std::string readable_name(const char* symbol);

// The template arguments and the parameters of lambdas that stand in `text`, which may be a whole
// call path, each as "…". "<module>" and operators stay.
std::string folded_name(std::string_view text);

}  // namespace refrain::reader
