#include "base/known_mpis.h"

#include <iterator>

namespace refrain::base {
namespace {

struct LibraryRow {
  std::string_view prefix, major, mpi;
};

#include "base/known_mpis.inc"

constexpr std::string_view kAnyVersion = "*";

// "libmpi.so.40.30.4" -> "40"; empty without a version.
std::string_view major_version(std::string_view library) {
  const size_t so = library.find(".so.");
  if (so == library.npos) return {};
  const std::string_view rest = library.substr(so + 4);
  return rest.substr(0, rest.find('.'));
}

}  // namespace

std::vector<std::string_view> known_mpis() {
  return {std::begin(kKnownMpis), std::end(kKnownMpis)};
}

std::vector<std::string_view> launched_mpis() {
  return {std::begin(kLaunchedMpis), std::end(kLaunchedMpis)};
}

std::string_view mpi_of_library(std::string_view name) {
  const std::string_view major = major_version(name);
  for (const LibraryRow& row : kLibraryRows)
    if (name.substr(0, row.prefix.size()) == row.prefix &&
        (row.major == kAnyVersion || major == row.major))
      return row.mpi;
  return {};
}

bool is_main_library(std::string_view name) {
  for (const std::string_view begin : kMainLibraries)
    if (name.substr(0, begin.size()) == begin) return true;
  return false;
}

}  // namespace refrain::base
