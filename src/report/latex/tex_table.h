// A table of a LaTeX document, which may go on on the next page. Bounded: what is left out is
// counted below it.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace refrain::report::latex {

class TexTable {
 public:
  struct Column {
    std::string title;  // LaTeX
    int width_mm = 0;   // of text that breaks its lines; 0: numbers, at the right
  };
  explicit TexTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // Cells in LaTeX, as many as there are columns.
  void row(const std::vector<std::string>& cells);
  // Puts a row for each of the first `most` of `count` things, and counts the others: more().
  void first(size_t most, size_t count, const std::string& noun,
             const std::function<void(size_t)>& put_row);
  // "and 12 more NOUN" below; nothing for 0.
  void more(size_t left_out, const std::string& noun);
  // Empty without rows.
  std::string text() const;

 private:
  std::vector<Column> columns_;
  std::string rows_, more_;
};

// A bar as long as `share` (0 to 1) of 12 mm.
std::string bar(double share);

}  // namespace refrain::report::latex
