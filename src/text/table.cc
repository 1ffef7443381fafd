#include "text/table.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/display.h"

namespace refrain::text {
namespace {

constexpr size_t kBarWidth = 20;
// A column of names becomes no narrower than that: first all bars go, then it may take the second.
constexpr size_t kReadableWidth = 24, kLeastWidth = 8;

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

void Table::add(std::vector<std::string> row) {
  row.resize(titles_.size());
  rows_.push_back(std::move(row));
}

// Makes the widest columns of names narrower until the line fits, or none is wider than `least`:
// those that are shortened last only if `has_last`.
void Table::narrow(std::vector<size_t>& width, size_t least, bool has_last) const {
  size_t all = 0;
  for (const size_t w : width) all += w == 0 ? 0 : 2 + w;
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

std::vector<size_t> Table::widths() const {
  std::vector<size_t> width;
  size_t all = 0;
  for (size_t c = 0; c < titles_.size(); ++c) {
    width.push_back(text_width(titles_[c]));
    for (const auto& row : rows_) width[c] = std::max(width[c], text_width(row[c]));
    all += width[c] == 0 ? 0 : 2 + width[c];
  }
  const size_t columns = display().columns;
  if (columns == 0 || all <= columns) return width;
  std::vector<size_t> narrowed = width;
  const auto bars = [&](size_t c) {
    return titles_[c].empty() &&
           std::all_of(rows_.begin(), rows_.end(), [&](const auto& row) { return is_bar(row[c]); });
  };
  narrow(narrowed, kReadableWidth, true);
  size_t narrow_all = 0;
  for (const size_t w : narrowed) narrow_all += w == 0 ? 0 : 2 + w;
  if (narrow_all <= columns) return narrowed;
  for (size_t c = 0; c < titles_.size(); ++c)
    if (bars(c)) width[c] = 0;
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
  return out;
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
