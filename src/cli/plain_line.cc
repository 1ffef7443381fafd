#include "cli/plain_line.h"

#include <array>
#include <cstdlib>
#include <string_view>

namespace refrain::cli {

namespace {

struct Option {
  const char* name;
  const char* variable;
  // One of them.
  std::string RecordOptions::*text = nullptr;
  bool RecordOptions::*flag = nullptr;
  bool Given::*given = nullptr;
};

constexpr Option text(const char* name, const char* variable, std::string RecordOptions::*value,
                      bool Given::*given = nullptr) {
  return {name, variable, value, nullptr, given};
}
constexpr Option flag(const char* name, const char* variable, bool RecordOptions::*value) {
  return {name, variable, nullptr, value, nullptr};
}

using R = RecordOptions;

// In the order of record.cc.
constexpr Option kOptions[] = {
    text("--output", "REFRAIN_OUTPUT", &R::output, &Given::output),
    text("--timing", "REFRAIN_TIMING", &R::timing),
    text("--exact-copy", "REFRAIN_EXACT_COPY", &R::exact_copy),
    text("--totals", "REFRAIN_TOTALS", &R::totals),
    text("--segments", "REFRAIN_SEGMENTS", &R::segments),
    text("--across-ranks", "REFRAIN_ACROSS_RANKS", &R::across_ranks),
    flag("--no-compress", "REFRAIN_NO_COMPRESS", &R::no_compress),
    text("--buffer", "REFRAIN_BUFFER", &R::buffer),
    flag("--no-write", "REFRAIN_NO_WRITE", &R::no_write),
    text("--mpi", "REFRAIN_MPI", &R::mpi, &Given::mpi),
    text("--buffers", "REFRAIN_BUFFERS", &R::buffers),
    text("--only", "REFRAIN_ONLY", &R::only),
    text("--without", "REFRAIN_WITHOUT", &R::without),
    text("--comm", "REFRAIN_COMM", &R::comm),
    text("--min-bytes", "REFRAIN_MIN_BYTES", &R::min_bytes),
    text("--max-bytes", "REFRAIN_MAX_BYTES", &R::max_bytes),
    text("--functions", "REFRAIN_FUNCTIONS", &R::functions),
    text("--python-frames", "REFRAIN_PYTHON_FRAMES", &R::python_frames),
    flag("--start-paused", "REFRAIN_START_PAUSED", &R::start_paused),
    text("--spool", "REFRAIN_SPOOL", &R::spool, &Given::spool),
    text("--memory", "REFRAIN_MEMORY", &R::memory, &Given::memory),
    flag("--quiet", "REFRAIN_QUIET", &R::quiet),
};
constexpr size_t kCount = std::size(kOptions);

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

// Words that CLI11 may take for something else: options, lists, marks.
bool is_special(std::string_view word) {
  return word.empty() || word[0] == '-' || word[0] == '[' || word[0] == '{' || word[0] == '+';
}

bool read_variable(const Option& option, RecordOptions& options, Given& given) {
  const std::string_view value = variable(option.variable);
  if (value.empty()) return true;
  if (option.flag != nullptr) {
    options.*option.flag = value == "1";
    return value == "0" || value == "1";
  }
  options.*option.text = value;
  if (option.given != nullptr) given.*option.given = true;
  return !is_special(value);
}

// What has a check of its own, or a unit, is read where it has its default only.
bool read_environment(RecordOptions& options, Given& given) {
  const std::string_view depth = variable("REFRAIN_CALLPATH");
  const std::string_view interval = variable("REFRAIN_CLOCK_INTERVAL");
  if ((!depth.empty() && depth != "8") || (!interval.empty() && interval != "0")) return false;
  given.call_path = !depth.empty();
  for (const Option& option : kOptions)
    if (!read_variable(option, options, given)) return false;
  return true;
}

const Option* find_option(std::string_view name) {
  if (name == "-o") return &kOptions[0];
  for (const Option& option : kOptions)
    if (name == option.name) return &option;
  return nullptr;
}

}  // namespace

bool read_plain_line(const Words& words, RecordOptions& options, Given& given, Words& rest) {
  if (!read_environment(options, given)) return false;
  std::array<bool, kCount> seen{};
  size_t at = 0;
  while (at < words.size() && words[at][0] == '-' && words[at] != "--") {
    const std::string_view word = words[at++];
    const size_t sign = word.find('=');
    const bool is_long = word.substr(0, 2) == "--";
    const Option* const option = find_option(word.substr(0, is_long ? sign : word.npos));
    if (option == nullptr || seen[static_cast<size_t>(option - kOptions)]) return false;
    seen[static_cast<size_t>(option - kOptions)] = true;
    const bool is_joined = is_long && sign != word.npos;
    if (option->flag != nullptr) {
      if (is_joined) return false;
      options.*option->flag = true;
      continue;
    }
    if (!is_joined && at == words.size()) return false;
    const std::string_view value = is_joined ? word.substr(sign + 1) : words[at++];
    if (is_special(value)) return false;
    options.*option->text = value;
    if (option->given != nullptr) given.*option->given = true;
  }
  const size_t program = at < words.size() && words[at] == "--" ? at + 1 : at;
  if (program >= words.size() || is_special(words[program]) || words[program] == "record")
    return false;
  rest.assign(words.begin() + static_cast<std::ptrdiff_t>(at), words.end());
  return true;
}

}  // namespace refrain::cli
