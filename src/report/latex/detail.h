// How much of a run a document has: `refrain report --format latex --verbosity WORD`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

namespace refrain::report {

enum class Verbosity : uint8_t {
  kBrief,   // a few pages: the verdict, the timeline, the functions, the kinds of waiting
  kNormal,  // what the page shows, with the first rows of each table
  kFull,    // longer tables, and maps, matrices, iterations and every rank by itself
};

constexpr std::string_view kVerbosities[] = {"brief", "normal", "full"};
constexpr std::optional<Verbosity> verbosity_of(std::string_view word) {
  for (size_t i = 0; i < std::size(kVerbosities); ++i)
    if (kVerbosities[i] == word) return static_cast<Verbosity>(i);
  return std::nullopt;
}

constexpr std::string_view word_of(Verbosity verbosity) {
  return kVerbosities[static_cast<size_t>(verbosity)];
}

namespace latex {

// Rows of tables and pictures of a row of pictures. As it is: those of Verbosity::kNormal.
struct Detail {
  size_t profile_rows = 20, tree_rows = 40;  // of a table of functions or call sites; of the tree
  bool has_sites = true;                     // and the tree
  size_t density_functions = 6;
  size_t pairs = 10;
  size_t wait_places = 12, waits = 10, delays = 8, path_parts = 8;
  bool has_wait_tables = true;  // beside the kinds of waiting
};

constexpr Detail detail_of(Verbosity verbosity) {
  Detail out;
  if (verbosity == Verbosity::kBrief) {
    out.profile_rows = 10;
    out.has_sites = out.has_wait_tables = false;
  }
  if (verbosity == Verbosity::kFull) {
    out.profile_rows = 100;
    out.tree_rows = 300;
    out.density_functions = 40;
    out.pairs = 100;
    out.wait_places = out.waits = out.delays = out.path_parts = 50;
  }
  return out;
}

}  // namespace latex
}  // namespace refrain::report
