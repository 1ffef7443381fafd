#include "report/table.h"

#include <fmt/format.h>

#include <algorithm>

namespace refrain::report {
namespace {

constexpr size_t kBarWidth = 20;

}  // namespace

Table::Table(std::vector<std::string> titles) : titles_(std::move(titles)) {
  for (std::string& title : titles_) {
    left_.push_back(!title.empty() && title[0] == '<');
    if (left_.back()) title.erase(0, 1);
  }
}

void Table::add(std::vector<std::string> row) {
  row.resize(titles_.size());
  rows_.push_back(std::move(row));
}

std::string Table::text() const {
  if (rows_.empty()) return "";
  std::vector<size_t> width;
  for (size_t c = 0; c < titles_.size(); ++c) {
    width.push_back(titles_[c].size());
    for (const auto& row : rows_) width[c] = std::max(width[c], row[c].size());
  }
  std::string out;
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string text;
    for (size_t c = 0; c < cells.size(); ++c) {
      text += "  ";
      const std::string pad(width[c] - cells[c].size(), ' ');
      text += left_[c] ? cells[c] + pad : pad + cells[c];
    }
    out += text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
  };
  line(titles_);
  for (const auto& row : rows_) line(row);
  return out;
}

std::string bar_text(double part, double whole) {
  if (!(part > 0) || !(whole > 0)) return "";
  const auto width = static_cast<size_t>(part / whole * kBarWidth + 0.5);
  return std::string(std::clamp<size_t>(width, 1, kBarWidth), '#');
}

std::string others_text(size_t count) { return fmt::format("others ({})", count); }

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

}  // namespace refrain::report
