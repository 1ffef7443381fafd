#include "report/latex/tex_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/latex/tex_text.h"
#include "text/numbers.h"

namespace refrain::report::latex {

void TexTable::row(const std::vector<std::string>& cells) {
  for (size_t i = 0; i < cells.size(); ++i) rows_ += (i == 0 ? "" : " & ") + cells[i];
  // A line of its own: what follows "\\" might be taken for its argument.
  rows_ += "\\tabularnewline\n";
}

void TexTable::first(size_t most, size_t count, const std::string& noun,
                     const std::function<void(size_t)>& put_row) {
  const size_t shown = std::min(most, count);
  for (size_t i = 0; i < shown; ++i) put_row(i);
  more(count - shown, noun);
}

void TexTable::more(size_t left_out, const std::string& noun) {
  if (left_out > 0) more_ = fmt::format("and {} more {}", number(text::count_text(left_out)), noun);
}

std::string TexTable::text() const {
  if (rows_.empty()) return "";
  std::string out = "{\\footnotesize\\let\\rfcodesize\\relax\n\\begin{longtable}{@{}", titles;
  bool has_titles = false;
  for (size_t i = 0; i < columns_.size(); ++i) {
    const Column& column = columns_[i];
    out += column.width_mm > 0 ? fmt::format("L{{{}mm}}", column.width_mm) : "r";
    has_titles = has_titles || !column.title.empty();
    titles += (i == 0 ? "" : " & ") + ("\\textbf{" + column.title + "}");
  }
  if (!has_titles) titles.clear();
  out += "@{}}\n" + titles + (has_titles ? "\\tabularnewline" : "") +
         "\\hline\\noalign{\\vskip1pt}\\endhead\n" + rows_;
  if (!more_.empty())
    out += fmt::format("\\multicolumn{{{}}}{{@{{}}l@{{}}}}{{\\emph{{{}}}}}\\tabularnewline\n",
                       columns_.size(), more_);
  return out + "\\hline\n\\end{longtable}}\n";
}

std::string bar(double share) {
  constexpr double kLength_mm = 12;
  return fmt::format("\\rfbar{{{:.2f}mm}}", kLength_mm * std::clamp(share, 0.0, 1.0));
}

}  // namespace refrain::report::latex
