#include "text/table.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/display.h"

namespace refrain::text {
namespace {

constexpr size_t kBarWidth = 20;
// A column of names becomes no narrower than that: first all bars go, then columns that the reader
// can do without while names would be narrower than the second, then they may take the third.
constexpr size_t kReadableWidth = 24, kSpareWidth = 16, kLeastWidth = 8;

size_t line_width(const std::vector<size_t>& width) {
  size_t all = 0;
  for (const size_t w : width) all += w == 0 ? 0 : 2 + w;
  return all;
}

bool is_bar(const std::string& cell) { return cell.find_first_not_of('#') == std::string::npos; }

}  // namespace

Table::Table(std::vector<std::string> titles) : titles_(std::move(titles)) {
  for (std::string& title : titles_) {
    left_.push_back(!title.empty() && title[0] == '<');
    if (left_.back()) title.erase(0, 1);
    last_.push_back(!title.empty() && title[0] == '<');
    if (last_.back()) title.erase(0, 1);
  }
}

void Table::can_leave_out(const std::vector<std::string>& titles) {
  for (const std::string& title : titles) {
    const auto at = std::find(titles_.begin(), titles_.end(), title);
    if (at != titles_.end()) spare_.push_back(static_cast<size_t>(at - titles_.begin()));
  }
}

void Table::add(std::vector<std::string> row) {
  row.resize(titles_.size());
  rows_.push_back(std::move(row));
}

// Makes the widest columns of names narrower until the line fits, or none is wider than `least`:
// those that are shortened last only if `has_last`.
void Table::narrow(std::vector<size_t>& width, size_t least, bool has_last) const {
  size_t all = line_width(width);
  while (all > display().columns) {
    size_t widest = titles_.size();
    for (size_t c = 0; c < titles_.size(); ++c)
      if (left_[c] && (has_last || !last_[c]) &&
          width[c] > std::max(least, text_width(titles_[c])) &&
          (widest == titles_.size() || width[c] > width[widest]))
        widest = c;
    if (widest == titles_.size()) return;
    --width[widest];
    --all;
  }
}

// How wide a line is if no name takes more than `most` columns: those that are shortened last do.
size_t Table::with_names_of(const std::vector<size_t>& width, size_t most) const {
  std::vector<size_t> shorter = width;
  for (size_t c = 0; c < titles_.size(); ++c)
    if (left_[c] && !last_[c])
      shorter[c] = std::min(shorter[c], std::max(most, text_width(titles_[c])));
  return line_width(shorter);
}

std::vector<size_t> Table::widths() const {
  std::vector<size_t> width;
  for (size_t c = 0; c < titles_.size(); ++c) {
    width.push_back(text_width(titles_[c]));
    for (const auto& row : rows_) width[c] = std::max(width[c], text_width(row[c]));
  }
  const size_t columns = display().columns;
  if (columns == 0 || line_width(width) <= columns) return width;
  std::vector<size_t> narrowed = width;
  narrow(narrowed, kReadableWidth, true);
  if (line_width(narrowed) <= columns) return narrowed;
  const auto bars = [&](size_t c) {
    return titles_[c].empty() &&
           std::all_of(rows_.begin(), rows_.end(), [&](const auto& row) { return is_bar(row[c]); });
  };
  for (size_t c = 0; c < titles_.size(); ++c)
    if (bars(c)) width[c] = 0;
  for (const size_t c : spare_)
    if (with_names_of(width, kSpareWidth) > columns) width[c] = 0;
  narrow(width, kReadableWidth, true);
  narrow(width, kLeastWidth, false);
  narrow(width, kLeastWidth, true);
  return width;
}

std::string Table::text() const {
  if (rows_.empty()) return "";
  const std::vector<size_t> width = widths();
  std::string out;
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string text;
    for (size_t c = 0; c < cells.size(); ++c) {
      if (width[c] == 0) continue;
      const std::string cell = shortened(cells[c], width[c]);
      text += "  ";
      const std::string pad(width[c] - text_width(cell), ' ');
      const bool is_length = !cell.empty() && cell[0] == '#' && is_bar(cell);
      text += left_[c] ? (is_length ? bar(cell) : cell) + pad : pad + cell;
    }
    return text.substr(0, text.find_last_not_of(' ') + 1);
  };
  out += text::titles(line(titles_)) + "\n";
  for (const auto& row : rows_) out += line(row) + "\n";
  std::string missing;
  for (const size_t c : spare_)
    if (width[c] == 0) missing += (missing.empty() ? "" : ", ") + titles_[c];
  return missing.empty() ? out : out + "  no room for: " + missing + "\n";
}

std::string bar_text(double part, double whole) {
  if (!(part > 0) || !(whole > 0)) return "";
  const auto width = static_cast<size_t>(part / whole * kBarWidth + 0.5);
  return std::string(std::clamp<size_t>(width, 1, kBarWidth), '#');
}

std::string others_text(size_t count) { return fmt::format("others ({})", count); }

std::string more_text(size_t more, const char* what) {
  if (more == 0) return "";
  return fmt::format("  ... and {} more{} (--top 0 shows all)\n", more, what);
}

}  // namespace refrain::text
