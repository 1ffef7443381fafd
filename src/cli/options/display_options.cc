#include "cli/options/display_options.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "cli/options/values.h"
#include "report/latex/detail.h"
#include "text/display.h"

namespace refrain::cli {
namespace {

constexpr size_t kUsualColumns = 80, kFewestColumns = 20, kMostColumns = 100000;

// 0: as wide as it needs.
size_t columns_of(bool is_terminal) {
  const char* wanted = std::getenv("COLUMNS");
  size_t columns = 0;
  if (wanted != nullptr) {
    const char* end = wanted + std::strlen(wanted);
    const auto [last, error] = std::from_chars(wanted, end, columns);
    if (error != std::errc() || last != end || columns > kMostColumns) columns = 0;
  }
  if (columns == 0 && is_terminal) columns = terminal_columns(STDOUT_FILENO);
  return columns == 0 ? 0 : std::max(columns, kFewestColumns);
}

bool has_colour(const std::string& wanted, bool is_terminal) {
  if (wanted != "auto") return wanted == "always";
  const char* none = std::getenv("NO_COLOR");
  const char* kind = std::getenv("TERM");
  return is_terminal && (none == nullptr || *none == '\0') &&
         (kind == nullptr || std::strcmp(kind, "dumb") != 0);
}

}  // namespace

Option* add_verbosity(Command& verb, std::string& word, const std::string& when) {
  return verb
      .add_option("--verbosity", word,
                  when +
                      "How much a LaTeX document has: brief (a few pages), normal, or full: "
                      "longer tables, maps and matrices of each function, iterations, each rank")
      ->check(one_of({std::begin(report::kVerbosities), std::end(report::kVerbosities)}))
      ->capture_default_str();
}

size_t terminal_columns(int fd) {
  if (isatty(fd) != 1) return 0;
  winsize size{};
  const bool is_known = ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return is_known ? size.ws_col : kUsualColumns;
}

void add_display(Command& verb, DisplayOptions& options, bool names) {
  if (names)
    verb.add_option("--names", options.names,
                    "Names of functions in text and pages: C++ template arguments folded to <...> "
                    "or as they are (full); JSON and CSV always have them in full")
        ->check(one_of({"folded", "full"}))
        ->capture_default_str();
  verb.add_option("--color", options.colour,
                  "Colours in text: on a terminal, unless NO_COLOR is set (auto), always or never")
      ->check(one_of({"auto", "always", "never"}))
      ->capture_default_str();
}

void use_display(const DisplayOptions& options, bool to_file) {
  const bool is_terminal = !to_file && isatty(STDOUT_FILENO) == 1;
  text::set_display({.columns = to_file ? 0 : columns_of(is_terminal),
                     .has_colour = has_colour(options.colour, is_terminal),
                     .fold_names = options.names == "folded"});
}

void use_markup(const DisplayOptions& options) {
  text::set_display({.fold_markup = options.names == "folded"});
}

}  // namespace refrain::cli
