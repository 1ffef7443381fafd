// Reads the same table as CLI11 does, but only lines on which nothing can be wrong or ambiguous:
// each option at most once, in full, with its value behind it or behind "=". Whatever else there
// is, CLI11 reads again from the begin, and says what is wrong.

#include "cli/launch/plain_line.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace refrain::cli {

namespace {

using options::kRecordRows;
using options::OptionKind;
using options::OptionRow;

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

// Words that CLI11 may take for something else: options, lists, marks.
bool is_special(std::string_view word) {
  return word.empty() || word[0] == '-' || word[0] == '[' || word[0] == '{' || word[0] == '+';
}

// A whole number without a sign or a unit, in the range of its option.
bool is_plain_number(const OptionRow& row, std::string_view value) {
  if (value == row.otherwise) return true;
  const char* const end = value.data() + value.size();
  uint32_t number = 0;
  const auto [read_to, error] = std::from_chars(value.data(), end, number);
  if (error != std::errc() || read_to != end || (value[0] == '0' && number != 0)) return false;
  return row.option != options::RecordOption::kCallPath || number <= options::kMostCallPath;
}

bool is_plain_value(const OptionRow& row, std::string_view value) {
  return row.kind == OptionKind::kNumber ? is_plain_number(row, value) : !is_special(value);
}

bool read_variable(const OptionRow& row, RecordOptions& options) {
  const std::string_view value = variable(row.variable);
  if (value.empty()) return true;
  options.give(row.option, std::string(value));
  switch (row.kind) {
    case OptionKind::kFlag: return value == "0" || value == "1";
    case OptionKind::kNumber:
    case OptionKind::kText: return is_plain_value(row, value);
  }
  return false;
}

bool read_environment(RecordOptions& options) {
  for (const OptionRow& row : kRecordRows)
    if (!read_variable(row, options)) return false;
  return true;
}

// "-o,--output" has the names "-o" and "--output".
bool has_name(const OptionRow& row, std::string_view name) {
  const std::string_view words = row.words;
  const size_t comma = words.find(',');
  return name == words.substr(0, comma) || (comma != words.npos && name == words.substr(comma + 1));
}

const OptionRow* find_option(std::string_view name) {
  for (const OptionRow& row : kRecordRows)
    if (has_name(row, name)) return &row;
  return nullptr;
}

}  // namespace

bool read_plain_line(const Words& words, RecordOptions& options, Words& rest) {
  if (!read_environment(options)) return false;
  std::array<bool, options::kRecordOptionCount> seen{};
  size_t at = 0;
  while (at < words.size() && words[at][0] == '-' && words[at] != "--") {
    const std::string_view word = words[at++];
    const size_t sign = word.find('=');
    const bool is_long = word.substr(0, 2) == "--";
    const OptionRow* const row = find_option(word.substr(0, is_long ? sign : word.npos));
    if (row == nullptr || std::exchange(seen[static_cast<size_t>(row->option)], true)) return false;
    const bool is_joined = is_long && sign != word.npos;
    if (row->kind == OptionKind::kFlag) {
      if (is_joined) return false;
      options.give(row->option, "1");
      continue;
    }
    if (!is_joined && at == words.size()) return false;
    const std::string_view value = is_joined ? word.substr(sign + 1) : words[at++];
    if (!is_plain_value(*row, value)) return false;
    options.give(row->option, std::string(value));
  }
  const size_t program = at < words.size() && words[at] == "--" ? at + 1 : at;
  if (program >= words.size() || is_special(words[program]) || words[program] == "record")
    return false;
  rest.assign(words.begin() + static_cast<std::ptrdiff_t>(at), words.end());
  return true;
}

}  // namespace refrain::cli
