// A text table with aligned columns.
#pragma once

#include <string>
#include <vector>

namespace refrain::text {

class Table {
 public:
  // A column's title; one that begins with '<' is aligned to the left, and with "<<" shortened
  // after all others: names that tell apart by their middle, as those of functions.
  explicit Table(std::vector<std::string> titles);
  // Columns of numbers, by their titles, that the reader can do without: where display() is too
  // narrow for names that can be read they are left out, the first one first, and a line says so.
  // Titles that the table does not have are passed over.
  void can_leave_out(const std::vector<std::string>& titles);
  void add(std::vector<std::string> row);  // as many cells as there are titles
  size_t rows() const { return rows_.size(); }
  // Lines of two spaces, cells, newline; empty when there is no row. Where display() is not wide
  // enough, cells of columns that are aligned to the left are shortened, and bars left out; numbers
  // are not shortened.
  std::string text() const;

 private:
  std::vector<size_t> widths() const;  // 0: left out
  size_t with_names_of(const std::vector<size_t>& width, size_t most) const;
  void narrow(std::vector<size_t>& width, size_t least, bool has_last) const;

  std::vector<std::string> titles_;
  std::vector<bool> left_, last_;
  std::vector<size_t> spare_;  // columns, the first to go first
  std::vector<std::vector<std::string>> rows_;
};

// A part of a whole as a bar of '#', at least one where there is any.
std::string bar_text(double part, double whole);
// "others (12)": the name of the line that sums the rows without one of their own.
std::string others_text(size_t count);
// "  ... and 12 more paths (--top 0 shows all)\n" for the `what` " paths"; empty when there are
// none.
std::string more_text(size_t more, const char* what = "");

}  // namespace refrain::text
